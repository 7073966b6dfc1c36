export { default } from '../zh/kit.ts'
