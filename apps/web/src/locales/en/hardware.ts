export { default } from '../zh/hardware.ts'
