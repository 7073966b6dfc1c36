export { default } from '../zh/order.ts'
