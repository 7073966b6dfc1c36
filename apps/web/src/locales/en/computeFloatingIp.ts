export { default } from '../zh/computeFloatingIp.ts'
