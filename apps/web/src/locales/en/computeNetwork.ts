export { default } from '../zh/computeNetwork.ts'
