export { default } from '../zh/container.ts'
