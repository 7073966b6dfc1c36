export { default } from '../zh/help.ts'
