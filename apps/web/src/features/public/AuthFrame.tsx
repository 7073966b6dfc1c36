import type { ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Abacus } from './Abacus.tsx'
import './public.css'

/** Login and register: what the platform is on the left, the form on the right. */
export function AuthFrame({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { t } = useTranslation('public')
  return (
    <div className="public-auth">
      <div className="public-auth-story" aria-hidden="true">
        <Abacus />
        <p className="public-auth-words">{t('slogan')}</p>
      </div>
      <section className="public-auth-form" aria-labelledby="page-title">
        <h1 id="page-title" tabIndex={-1}>
          {title}
        </h1>
        {children}
      </section>
    </div>
  )
}
