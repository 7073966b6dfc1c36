export { default } from '../zh/nextstackCompute.ts'
