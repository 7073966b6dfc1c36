import AutoComplete from 'antd/es/auto-complete'
import Button from 'antd/es/button'
import type { Container } from '@zhisuan/contract/cis/container'
import { useMemo, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { Terminal } from '../../kit/Terminal.tsx'
import { paths } from '../../paths.ts'
import { wordsOf } from './commandLine.ts'
import { whyNotContainer } from './containerRules.ts'
import { openTerminal } from './openTerminal.ts'
import './container.css'

const shells = ['/bin/sh', '/bin/bash', '/bin/ash']
const [usual = '/bin/sh'] = shells

/** A terminal of a container, and the command that runs in it. */
export function ContainerTerminal({
  container,
  whole = false,
}: {
  readonly container: Container
  /** The page is the terminal, and nothing else. */
  readonly whole?: boolean
}) {
  const { t } = useTranslation('container')
  const [typed, setTyped] = useState(usual)
  const [command, setCommand] = useState(usual)
  const [opened, setOpened] = useState(0)
  const words = wordsOf(typed)
  const usable = words !== null && words.length > 0 && words.length <= 16
  const open = useMemo(() => openTerminal(container.id, wordsOf(command) ?? [usual], t('terminal.taken')), [command, container.id, t])
  if (container.status !== 'running') return <EmptyState title={t('terminal.off', { state: t(`status.${container.status}`) })} />
  const refused = whyNotContainer(t, 'terminal', container)
  if (refused !== null) return <EmptyState title={refused} />
  return (
    <>
      <form
        noValidate
        className="cn-shell"
        onSubmit={(event) => {
          event.preventDefault()
          if (!usable) return
          setCommand(typed)
          setOpened(opened + 1)
        }}
      >
        <label htmlFor="container-shell">{t('terminal.shell')}</label>
        <AutoComplete
          id="container-shell"
          value={typed}
          onChange={setTyped}
          options={shells.map((value) => ({ value }))}
          {...(!usable && { status: 'error' as const })}
        />
        <Button htmlType="submit" disabled={!usable}>
          {t('terminal.apply')}
        </Button>
        <span className="zs-soft">{t('terminal.shellNote')}</span>
        {!whole && <Link to={paths.container.command(container.id, container.name)}>{t('terminal.full')}</Link>}
      </form>
      <div className={whole ? '' : 'zs-terminal-tall'}>
        {/* Of one made anew, the former's terminal is gone. */}
        <Terminal key={`${container.container_id ?? ''} ${opened}`} resumeKey={`container ${container.id}`} label={container.name} open={open} />
      </div>
    </>
  )
}
