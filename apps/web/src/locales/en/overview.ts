export { default } from '../zh/overview.ts'
