export { default } from '../zh/routes.ts'
