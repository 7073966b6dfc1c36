export { default } from '../zh/edge.ts'
