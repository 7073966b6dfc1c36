export { default } from '../zh/computeSecurity.ts'
