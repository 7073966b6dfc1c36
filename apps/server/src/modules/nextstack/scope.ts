export { within } from '../../platform/db/scope.ts'
