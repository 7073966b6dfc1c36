export { default } from '../zh/computeImage.ts'
