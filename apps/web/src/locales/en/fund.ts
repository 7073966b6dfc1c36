export { default } from '../zh/fund.ts'
