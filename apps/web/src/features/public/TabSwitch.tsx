import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import './public.css'

export interface TabOf<Key extends string> {
  readonly key: Key
  readonly label: string
}

/** Tabs by the ARIA pattern. antd's would bring its menu and dropdown along, more than the login page's own weight. */
export function TabSwitch<Key extends string>({
  tabs,
  active,
  onChange,
  label,
  children,
}: {
  readonly tabs: readonly TabOf<Key>[]
  readonly active: Key
  readonly onChange: (key: Key) => void
  readonly label: string
  readonly children: ReactNode
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.key === active)
    const next =
      event.key === 'ArrowRight' ? at + 1 : event.key === 'ArrowLeft' ? at - 1 : event.key === 'Home' ? 0 : event.key === 'End' ? tabs.length - 1 : null
    const tab = next === null ? undefined : tabs[(next + tabs.length) % tabs.length]
    if (tab === undefined) return
    event.preventDefault()
    onChange(tab.key)
    list.current?.querySelector<HTMLElement>(`[data-key="${tab.key}"]`)?.focus()
  }
  // One alone shows no tabs. What is below keeps its place, so that nothing typed is lost when a second one comes.
  const several = tabs.length > 1
  return (
    <>
      {several && (
        <div className="public-tabswitch" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
          {tabs.map((tab) => (
            <button
              key={tab.key}
              type="button"
              role="tab"
              data-key={tab.key}
              id={`${id}-${tab.key}`}
              aria-selected={tab.key === active}
              aria-controls={`${id}-panel`}
              tabIndex={tab.key === active ? 0 : -1}
              onClick={() => onChange(tab.key)}
            >
              {tab.label}
            </button>
          ))}
        </div>
      )}
      <div {...(several && { role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': `${id}-${active}` })}>{children}</div>
    </>
  )
}
