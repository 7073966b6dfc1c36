import type { FormInstance } from 'antd/es/form'
import { useTranslation } from '../../i18n.ts'
import { errors } from '@zhisuan/contract/errors'
import { toApiError } from '../../api/client.ts'
import { notify } from '../../api/notify.ts'
import { placeFailure } from './formFailure.ts'

const places = { [errors.phoneTaken.code]: 'phone', [errors.phoneUnknown.code]: 'phone' }

/**
 * Has a code sent to the phone of the form, once the number is one; what fails is said in the form.
 * @param sendTo makes the call
 */
export function useSendCode<Values extends { phone: string }>(
  form: FormInstance<Values>,
  sendTo: (phone: string) => Promise<{ readonly retry_after_seconds: number }>,
  onFailure: (text: string | null) => void,
): () => Promise<number | null> {
  const { t } = useTranslation('public')
  return async () => {
    // The form's own name type is a path into Values, which the compiler cannot resolve here.
    const plain: FormInstance = form
    onFailure(null)
    try {
      await plain.validateFields(['phone'])
    } catch {
      plain.focusField('phone')
      return null
    }
    try {
      const sent = await sendTo(plain.getFieldValue('phone') as string)
      notify('success', t('code.sent'))
      plain.focusField('code')
      return sent.retry_after_seconds
    } catch (thrown) {
      onFailure(placeFailure(plain, toApiError(thrown), places))
      return null
    }
  }
}
