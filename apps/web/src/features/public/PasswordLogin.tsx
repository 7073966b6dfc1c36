import { useRef, useState, type FormEvent } from 'react'
import { useTranslation } from '../../i18n.ts'
import { errors } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { beginSession, signingIn } from '../../session/session.ts'
import { LabelledField } from './LabelledField.tsx'
import { Notice } from './Notice.tsx'
import './public.css'

/** Comes once somebody types: the page is there before it. */
const passwordRule = () => import('./passwordRule.ts')

type Field = 'username' | 'password' | 'otp'

/** The guard leads on once there is a token. */
export function PasswordLogin({
  username,
  focus,
  onUsername,
}: {
  readonly username: string
  /** Whether the first field to fill takes the focus. */
  readonly focus: boolean
  readonly onUsername: (username: string) => void
}) {
  const { t } = useTranslation('public')
  const [password, setPassword] = useState('')
  const [visible, setVisible] = useState(false)
  /** Null until the server asks for it: most people have no second factor. */
  const [otp, setOtp] = useState<string | null>(null)
  const [wrong, setWrong] = useState<Readonly<Partial<Record<Field, string>>>>({})
  const login = useChange(auth.password, { silent: true, onDone: beginSession })

  const judging = useRef(false)

  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (login.isPending || judging.current) return
    const form = event.currentTarget
    const focus = (name: Field): void => form.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus()
    const body = { username: username.trim(), password, ...(otp !== null && { otp: otp.trim() }) }
    judging.current = true
    // Where the rule does not come, the server says the same.
    const found = await passwordRule().then(
      ({ wrongWith }) => wrongWith(body),
      () => null,
    )
    judging.current = false
    if (found !== null) {
      setWrong(found)
      focus(found.username !== undefined ? 'username' : found.password !== undefined ? 'password' : 'otp')
      return
    }
    setWrong({})
    signingIn()
    // What was typed stays: whoever mistyped one letter should not type all again.
    login.mutate(
      { body },
      {
        onError: ({ code }) => {
          // Its field takes the focus as it comes.
          if (code === errors.secondFactorRequired.code) setOtp('')
          else focus(otp === null ? 'password' : 'otp')
        },
      },
    )
  }

  return (
    <form noValidate onSubmit={(event) => void submit(event)} onChange={() => void passwordRule().catch(() => undefined)}>
      {login.error !== null && login.error.code !== errors.secondFactorRequired.code && !login.isPending && (
        <Notice tone="bad">{errorText(login.error)}</Notice>
      )}
      <LabelledField label={t('login.username')} error={wrong.username ?? null}>
        {(props) => (
          <input
            {...props}
            className="public-input"
            name="username"
            value={username}
            // Passkeys are offered where the browser fills in names.
            autoComplete="username webauthn"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus={focus && username === ''}
            onChange={(event) => onUsername(event.target.value)}
          />
        )}
      </LabelledField>
      <LabelledField label={t('login.password')} error={wrong.password ?? null}>
        {(props) => (
          <span className="public-input-with">
            <input
              {...props}
              className="public-input"
              name="password"
              type={visible ? 'text' : 'password'}
              value={password}
              autoComplete="current-password"
              autoFocus={focus && username !== ''}
              onChange={(event) => setPassword(event.target.value)}
            />
            <button type="button" className="zs-linkbutton" aria-pressed={visible} aria-label={t('login.showPassword')} onClick={() => setVisible(!visible)}>
              {t(visible ? 'login.hide' : 'login.show')}
            </button>
          </span>
        )}
      </LabelledField>
      {otp !== null && (
        <LabelledField label={t('login.otp')} error={wrong.otp ?? null}>
          {(props) => (
            <input
              {...props}
              className="public-input"
              name="otp"
              inputMode="text"
              autoComplete="one-time-code"
              spellCheck={false}
              autoFocus
              value={otp}
              onChange={(event) => setOtp(event.target.value)}
            />
          )}
        </LabelledField>
      )}
      <button type="submit" className="zs-button public-button-large zs-button-block" aria-disabled={login.isPending}>
        {t(login.isPending ? 'login.submitting' : 'login.submit')}
      </button>
    </form>
  )
}
