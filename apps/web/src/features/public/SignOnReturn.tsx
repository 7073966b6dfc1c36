import { useEffect, useRef, useState, type FormEvent } from 'react'
import { useTranslation } from '../../i18n.ts'
import { errors } from '@zhisuan/contract/errors'
import { singleSignOn } from '@zhisuan/contract/ums/identityProvider'
import { otp as otpRule } from '@zhisuan/contract/ums/second-factor'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { rememberOrganisation } from '../../session/organisation.ts'
import { beginSession, rememberSignOn, signingIn } from '../../session/session.ts'
import { LabelledField } from './LabelledField.tsx'
import { Notice } from './Notice.tsx'
import './public.css'

/** After a provider has led back: begins the session, and asks for the second factor where the person has one. */
export default function SignOnReturn({ organisation, onBack }: { readonly organisation: string | undefined; readonly onBack: () => void }) {
  const { t } = useTranslation('public')
  const [otp, setOtp] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const finish = useChange(singleSignOn.finish, {
    silent: true,
    onDone: (token) => {
      rememberSignOn()
      if (organisation !== undefined) rememberOrganisation(organisation)
      beginSession(token)
    },
  })
  const begun = useRef(false)
  const { mutate } = finish
  useEffect(() => {
    // Once: what the provider has said is good for one session.
    if (begun.current) return
    begun.current = true
    signingIn()
    mutate({ body: {} })
  }, [mutate])
  const code = finish.error?.code
  const asks = code === errors.secondFactorRequired.code || code === errors.secondFactorMismatch.code || otp !== ''
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (finish.isPending) return
    const checked = otpRule.safeParse(otp)
    setWrong(checked.success ? null : (checked.error.issues[0]?.message ?? null))
    if (checked.success) mutate({ body: { otp: checked.data } })
  }
  return (
    <>
      {finish.error !== null && !finish.isPending && code !== errors.secondFactorRequired.code && <Notice tone="bad">{errorText(finish.error)}</Notice>}
      {finish.error === null && !asks && <p role="status">{t('login.submitting')}</p>}
      {asks && (
        <form onSubmit={submit} noValidate>
          <LabelledField label={t('login.otp')} error={wrong}>
            {(props) => (
              <input
                {...props}
                className="public-input"
                name="otp"
                autoComplete="one-time-code"
                spellCheck={false}
                autoFocus
                value={otp}
                onChange={(event) => setOtp(event.target.value)}
              />
            )}
          </LabelledField>
          <button type="submit" className="zs-button public-button-large zs-button-block" aria-disabled={finish.isPending}>
            {t(finish.isPending ? 'login.submitting' : 'login.submit')}
          </button>
        </form>
      )}
      <div className="public-auth-more">
        <button type="button" className="zs-linkbutton" onClick={onBack}>
          {t('login.otherWay')}
        </button>
      </div>
    </>
  )
}
