import type { ReactNode } from 'react'
import './public.css'

/** A word to the person above a form. Refusals are read out as they appear. */
export function Notice({ tone, children }: { readonly tone: 'good' | 'bad'; readonly children: ReactNode }) {
  return (
    <p className={`public-notice public-notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </p>
  )
}
