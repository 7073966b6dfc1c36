import type { Command } from '@zhisuan/contract/nextstack/command'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { CommandComposer, type Draft } from './CommandComposer.tsx'
import { CommandHistory } from './CommandHistory.tsx'
import { CommandResults } from './CommandResults.tsx'
import { readBatch, writeBatch, type BatchState } from './commandState.ts'

/** One script in many instances: write it, see what each says, and what was run before. */
export function BatchCommand() {
  const { t } = useTranslation('nextstackCompute')
  const cloud = useNextStackCloud()
  const [search, setSearch] = useSearchParams()
  const state = readBatch(search)
  const change = (next: Partial<BatchState>): void => setSearch((now) => writeBatch(now, { ...readBatch(now), ...next }), { replace: true })
  const [draft, setDraft] = useState<Draft>(() => ({ number: 0, vms: state.vms, script: '', timeout_seconds: 60 }))

  const edit = (script: string, timeout_seconds: number, vms: readonly string[]): void => {
    setDraft({ number: draft.number + 1, vms, script, timeout_seconds })
    change({ vms, command: null })
  }
  const show = ({ id }: Pick<Command, 'id'>): void => change({ command: id })
  return (
    <NextStackPage>
      {/* Anew for each draft: what is typed is the composer's own. */}
      <CommandComposer key={`${cloud?.cloud_id ?? ''} ${draft.number}`} cloudId={cloud?.cloud_id} draft={draft} onStarted={show} />
      {state.command !== null && (
        <CommandResults key={state.command} id={state.command} onEdit={edit} onShow={show} onClose={() => change({ command: null })} />
      )}
      <section className="zs-card">
        <h2 className="zs-heading">
          {t('command.history')} <span className="zs-soft">{t('command.historyNote')}</span>
        </h2>
        <CommandHistory cloudId={cloud?.cloud_id} shown={state.command} onEdit={edit} onShow={show} />
      </section>
    </NextStackPage>
  )
}
