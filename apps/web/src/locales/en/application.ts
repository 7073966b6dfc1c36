export { default } from '../zh/application.ts'
