export { default } from '../zh/network.ts'
