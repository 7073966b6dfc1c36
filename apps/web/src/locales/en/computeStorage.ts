export { default } from '../zh/computeStorage.ts'
