export { default } from '../zh/image.ts'
