import type { FormInstance } from 'antd/es/form'
import { errors } from '@zhisuan/contract/errors'
import type { ApiError } from '../../api/client.ts'
import { errorText } from '../../api/toasts.ts'
import { showFieldErrors } from '../../kit/rules.ts'

/**
 * Puts a refusal where the person looks: on its field, or in words for the whole form.
 * @param places fields that codes of the catalogue are about
 */
export function placeFailure(form: FormInstance, error: ApiError, places: Readonly<Record<number, string>> = {}): string | null {
  if (error.code === errors.fieldsInvalid.code && error.fields.length > 0) {
    const left = showFieldErrors(form, error.fields)
    return left.length === 0 ? null : left.map((one) => one.message).join('；')
  }
  const name = places[error.code]
  if (name === undefined || form.getFieldInstance(name) == null) return errorText(error)
  form.setFields([{ name, errors: [errorText(error)] }])
  form.focusField(name)
  return null
}
