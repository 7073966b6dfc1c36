export { default } from '../zh/clouds.ts'
