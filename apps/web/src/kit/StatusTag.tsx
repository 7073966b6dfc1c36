import type { ReactNode } from 'react'
import './status.css'

/** What a status means to the person: in order, on its way, careful, wrong, at rest. */
export type StatusTone = 'good' | 'busy' | 'warning' | 'bad' | 'rest'

/** A dot and a word; the dot moves while something passes. Colour is never the only sign. */
export function StatusTag({ tone, children }: { readonly tone: StatusTone; readonly children: ReactNode }) {
  return (
    <span className={`zs-status zs-status-${tone}`}>
      <span className="zs-status-dot" aria-hidden="true" />
      {children}
    </span>
  )
}
