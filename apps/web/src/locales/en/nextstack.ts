export { default } from '../zh/nextstack.ts'
