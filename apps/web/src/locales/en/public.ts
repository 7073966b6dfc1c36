export { default } from '../zh/public.ts'
