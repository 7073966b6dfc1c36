export { default } from '../zh/content.ts'
