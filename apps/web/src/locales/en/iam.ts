export { default } from '../zh/iam.ts'
