export { default } from '../zh/report.ts'
