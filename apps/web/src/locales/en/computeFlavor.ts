export { default } from '../zh/computeFlavor.ts'
