export { default } from '../zh/snapshot.ts'
