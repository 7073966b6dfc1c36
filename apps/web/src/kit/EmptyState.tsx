import type { ReactNode } from 'react'
import './panel.css'

/** Says what would stand here and how to get the first one. */
export function EmptyState({ title, children, action }: { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="zs-panel">
      <p className="zs-panel-title">{title}</p>
      {children !== undefined && <div className="zs-panel-note">{children}</div>}
      {action}
    </div>
  )
}
