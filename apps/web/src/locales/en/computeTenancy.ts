export { default } from '../zh/computeTenancy.ts'
