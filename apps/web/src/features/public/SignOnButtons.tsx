import { useTranslation } from '../../i18n.ts'
import { singleSignOn } from '@zhisuan/contract/ums/identityProvider'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { Notice } from './Notice.tsx'
import './public.css'

/** Buttons of the identity providers; each leads to the provider's own page. */
export default function SignOnButtons({
  providers,
  redirect,
}: {
  readonly providers: readonly { readonly id: string; readonly name: string; readonly by_organisation: boolean }[]
  readonly redirect: string | undefined
}) {
  const { t } = useTranslation('public')
  const begin = useChange(singleSignOn.begin, { silent: true, onDone: ({ url }) => location.assign(url) })
  return (
    <>
      {begin.error !== null && !begin.isPending && <Notice tone="bad">{errorText(begin.error)}</Notice>}
      {providers.map(({ id, name, by_organisation }) => (
        <button
          key={id}
          type="button"
          className="public-auth-way"
          aria-disabled={begin.isPending}
          onClick={() => begin.mutate({ params: { id }, body: redirect === undefined ? {} : { redirect } })}
        >
          {t(by_organisation ? 'login.signOnOfOrganisation' : 'login.signOn', { name })}
        </button>
      ))}
    </>
  )
}
