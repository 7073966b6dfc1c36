export { default } from '../zh/computeInstance.ts'
