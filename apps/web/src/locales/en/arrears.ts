export { default } from '../zh/arrears.ts'
