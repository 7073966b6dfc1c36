export { default } from '../zh/storage.ts'
