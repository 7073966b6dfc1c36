export { default } from '../zh/shell.ts'
