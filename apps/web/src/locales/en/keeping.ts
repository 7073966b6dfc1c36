export { default } from '../zh/keeping.ts'
