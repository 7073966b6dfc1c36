export { default } from '../zh/licence.ts'
