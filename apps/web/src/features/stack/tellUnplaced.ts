import { ApiError, toApiError } from '../../api/client.ts'
import { tellError } from '../../api/tellError.ts'
import type { SourceValues } from './sourceForm.ts'

/** Says what a form was refused with where it names no field: what does stands beside it. */
export function tellUnplaced(thrown: unknown): void {
  if (toApiError(thrown).fields.length === 0) tellError(thrown)
}

/** What is wrong with the file of a template stands beside the template: there is no field of the file. */
export function besideSource(thrown: unknown, { source }: Pick<SourceValues, 'source'>): ApiError {
  const error = toApiError(thrown)
  if (source !== 'template') return error
  const fields = error.fields.map((one) => (one.field === 'compose' ? { ...one, field: 'template_id' } : one))
  return new ApiError({ ...error, message: error.message, fields })
}
