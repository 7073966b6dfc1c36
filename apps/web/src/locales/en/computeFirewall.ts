export { default } from '../zh/computeFirewall.ts'
