import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { auth } from '@zhisuan/contract/ums/auth'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { prefetchConsole } from '../../layout/prefetchConsole.ts'
import { beginSession } from '../../session/session.ts'
import { LabelledField } from './LabelledField.tsx'
import { Notice } from './Notice.tsx'

type Field = 'username' | 'password'

/** The guard leads on once there is a token. */
export function PasswordLogin({ username, onUsername }: { readonly username: string; readonly onUsername: (username: string) => void }) {
  const { t } = useTranslation('public')
  const [password, setPassword] = useState('')
  const [visible, setVisible] = useState(false)
  const [wrong, setWrong] = useState<Readonly<Partial<Record<Field, string>>>>({})
  const login = useChange(auth.password, { silent: true, onDone: beginSession })

  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (login.isPending) return
    const form = event.currentTarget
    const focus = (name: Field): void => form.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus()
    const checked = auth.password.body.safeParse({ username: username.trim(), password })
    if (!checked.success) {
      const found: Partial<Record<Field, string>> = {}
      for (const { path, message } of checked.error.issues) found[path[0] === 'password' ? 'password' : 'username'] ??= message
      setWrong(found)
      focus(found.username === undefined ? 'password' : 'username')
      return
    }
    setWrong({})
    prefetchConsole()
    // What was typed stays: whoever mistyped one letter should not type all again.
    login.mutate({ body: checked.data }, { onError: () => focus('password') })
  }

  return (
    <form onSubmit={submit} noValidate>
      {login.error !== null && !login.isPending && <Notice tone="bad">{errorText(login.error)}</Notice>}
      <LabelledField label={t('login.username')} error={wrong.username ?? null}>
        {(props) => (
          <input
            {...props}
            className="zs-input"
            name="username"
            value={username}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus={username === ''}
            onChange={(event) => onUsername(event.target.value)}
          />
        )}
      </LabelledField>
      <LabelledField label={t('login.password')} error={wrong.password ?? null}>
        {(props) => (
          <span className="zs-input-with">
            <input
              {...props}
              className="zs-input"
              name="password"
              type={visible ? 'text' : 'password'}
              value={password}
              autoComplete="current-password"
              autoFocus={username !== ''}
              onChange={(event) => setPassword(event.target.value)}
            />
            <button type="button" className="zs-linkbutton" aria-pressed={visible} aria-label={t('login.showPassword')} onClick={() => setVisible(!visible)}>
              {t(visible ? 'login.hide' : 'login.show')}
            </button>
          </span>
        )}
      </LabelledField>
      <button type="submit" className="zs-button zs-button-large zs-button-block" aria-disabled={login.isPending}>
        {t(login.isPending ? 'login.submitting' : 'login.submit')}
      </button>
    </form>
  )
}
