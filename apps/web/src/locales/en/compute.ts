export { default } from '../zh/compute.ts'
