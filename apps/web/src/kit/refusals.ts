import type { FormInstance } from 'antd/es/form'
import { toApiError } from '../api/client.ts'
import { toastError } from '../api/notify.ts'
import { showFieldErrors } from './rules.ts'

/**
 * Says beside its field what the server refused; what no field stands for is toasted. What was
 * typed stays either way. For calls made with `silent`.
 * @param rename the server's name of a field, where the form's is another
 */
export function showRefusal(form: FormInstance, thrown: unknown, rename: Readonly<Record<string, string>> = {}): void {
  const error = toApiError(thrown)
  // The session's end is told wherever it shows.
  if (error.status === 401) return
  const fields = error.fields.map(({ field, message }) => ({ field: rename[field] ?? field, message }))
  const left = showFieldErrors(form, fields)
  if (fields.length === 0 || left.length > 0) toastError(error)
}
