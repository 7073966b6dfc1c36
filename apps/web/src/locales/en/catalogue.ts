export { default } from '../zh/catalogue.ts'
