import { browserSupportsWebAuthnAutofill, startAuthentication, WebAuthnAbortService } from '@simplewebauthn/browser'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { passkeys } from '@zhisuan/contract/ums/passkey'
import { ApiError, request } from '../../api/client.ts'
import { errorText } from '../../api/toasts.ts'
import { beginSession, signingIn } from '../../session/session.ts'
import { Notice } from './Notice.tsx'
import './public.css'

/** A challenge is asked for anew so long before the old one ends. */
const marginMs = 30_000

async function enter(autofill: boolean): Promise<void> {
  const asked = await request(passkeys.challenge, {})
  // The field is the password form's, which may not be shown now.
  const credential = await startAuthentication({ optionsJSON: asked, useBrowserAutofill: autofill, verifyBrowserAutofillInput: false })
  signingIn()
  beginSession(await request(passkeys.signIn, { body: { credential } }))
}

/** By a button, and among what the browser fills in for the name. The guard leads on once there is a token. */
export default function PasskeyLogin() {
  const { t } = useTranslation('public')
  const [pending, setPending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  /** Grows when the browser shall offer passkeys anew. */
  const [round, setRound] = useState(0)
  const asking = useRef(false)

  useEffect(() => {
    let left = false
    let again: ReturnType<typeof setTimeout> | undefined
    const offer = async (): Promise<void> => {
      if (!(await browserSupportsWebAuthnAutofill()) || left || asking.current) return
      again = setTimeout(
        () => {
          if (!left && !asking.current) setRound((now) => now + 1)
        },
        5 * 60_000 - marginMs,
      )
      try {
        await enter(true)
      } catch (thrown) {
        // Unasked for, so only what the server says of a passkey that was chosen is worth a word.
        if (left || !(thrown instanceof ApiError) || thrown.path !== passkeys.signIn.path) return
        setFailure(errorText(thrown))
        setRound((now) => now + 1)
      }
    }
    void offer()
    return () => {
      left = true
      clearTimeout(again)
      if (!asking.current) WebAuthnAbortService.cancelCeremony()
    }
  }, [round])

  useEffect(() => () => WebAuthnAbortService.cancelCeremony(), [])

  const ask = async (): Promise<void> => {
    if (asking.current) return
    asking.current = true
    setPending(true)
    setFailure(null)
    try {
      await enter(false)
    } catch (thrown) {
      setFailure(thrown instanceof ApiError ? errorText(thrown) : t('login.passkeyUnfinished'))
    } finally {
      asking.current = false
      setPending(false)
      setRound((now) => now + 1)
    }
  }

  return (
    <>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <button type="button" className="public-auth-way" aria-disabled={pending} onClick={() => void ask()}>
        {t(pending ? 'login.passkeyWaiting' : 'login.passkey')}
      </button>
    </>
  )
}
