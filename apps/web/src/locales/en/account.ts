export { default } from '../zh/account.ts'
