import { errors } from '@zhisuan/contract/errors'
import { passwordTyped } from '@zhisuan/contract/validation'
import { useState } from 'react'
import { toApiError } from '../api/client.ts'
import { useTranslation } from '../i18n.ts'
import { PasswordField } from './fields.tsx'

/** The password that is theirs now, by which somebody proves that it is they. */
export function CurrentPassword({ focus = true }: { readonly focus?: boolean }) {
  const { t } = useTranslation('kit')
  const about = { label: t('currentPassword'), extra: t('currentPasswordHint') }
  return <PasswordField name="password" {...about} schema={passwordTyped} validateTrigger="onSubmit" autoComplete="current-password" autoFocus={focus} />
}

/** The password is asked for only where the server wants it: not of who has just signed in. */
export const wantsPassword = (thrown: unknown): boolean => toApiError(thrown).code === errors.proofRequired.code && toApiError(thrown).fields.length > 0

/** Asks for the password once the server wants it. */
export function useAskedPassword() {
  const [asks, setAsks] = useState(false)
  return {
    asking: async <T,>(run: () => Promise<T>): Promise<T> => {
      try {
        return await run()
      } catch (thrown) {
        if (wantsPassword(thrown)) setAsks(true)
        throw thrown
      }
    },
    passwordField: asks ? <CurrentPassword /> : null,
  }
}
