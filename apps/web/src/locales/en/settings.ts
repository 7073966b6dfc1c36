export { default } from '../zh/settings.ts'
