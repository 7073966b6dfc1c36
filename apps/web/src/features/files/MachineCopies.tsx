import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { machineCopies, type MachineCopy } from '@zhisuan/contract/files/machine'
import { lazy, useEffect, useRef } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import * as format from '../../kit/format.ts'
import { useDialog } from '../../kit/dialogs.tsx'
import './files.css'

const MachineCopyDialog = lazy(() => import('./MachineCopyDialog.tsx'))

/** Asks what of a space goes into a directory of a machine; or where in a space something of it comes to. */
export function useMachineCopy(): (
  how: MachineCopy['direction'],
  at: { readonly machine: Pick<MachineCopy['machine'], 'kind' | 'id'>; readonly path: string },
) => void {
  const open = useDialog()
  return (how, at) => open((close) => <MachineCopyDialog how={how} at={at} onClose={close} />)
}

/** So long what has ended is shown, and so many at most. */
const shownMs = 15 * 60_000
const linesMost = 8
const goesOn = ({ status }: MachineCopy): boolean => status === 'waiting' || status === 'running'
const isRecent = ({ ended_at }: MachineCopy): boolean => ended_at !== null && Date.now() - Date.parse(ended_at) < shownMs

/**
 * What goes between spaces and a machine, and what became of it lately: also after the page was read anew.
 * @param onArrived something has come to the machine
 */
export function MachineCopies({
  machine: { kind, id },
  onArrived,
}: {
  readonly machine: Pick<MachineCopy['machine'], 'kind' | 'id'>
  readonly onArrived: () => void
}) {
  const { t } = useTranslation('files')
  const { data } = useCall(machineCopies.list, { params: { kind, id } }, { silent: true, refreshMs: (list) => (list?.items.some(goesOn) ? 1_500 : 30_000) })
  const items = data?.items ?? []
  const arrived = items.filter(({ status, direction }) => status === 'done' && direction === 'to_machine').length
  const before = useRef<number | null>(null)
  useEffect(() => {
    if (data === undefined) return
    if (before.current !== null && arrived > before.current) onArrived()
    before.current = arrived
  }, [arrived, data, onArrived])
  const shown = [...items.filter(goesOn), ...items.filter((copy) => !goesOn(copy) && isRecent(copy))].slice(0, linesMost)
  if (shown.length === 0) return null
  return (
    <section className="fl-uploads zs-card" aria-label={t('machine.title')}>
      <h2>{t('machine.title')}</h2>
      <ul>
        {shown.map((copy) => (
          <CopyLine key={copy.id} copy={copy} />
        ))}
      </ul>
    </section>
  )
}

function CopyLine({ copy }: { readonly copy: MachineCopy }) {
  const { t } = useTranslation('files')
  const cancel = useChange(machineCopies.cancel, { invalidates: [machineCopies.list] })
  const { id, direction, path, name, status, total_bytes: total, done_bytes: done, skipped_count: skipped, error } = copy
  const what = direction === 'to_machine' ? t('machine.to', { name: name ?? '', path }) : t('machine.from', { path })
  const percent = total === null || total === 0 ? 0 : Math.floor((done / total) * 100)
  return (
    <li>
      <span className="zs-cut fl-line-name" title={what}>
        {what}
      </span>
      {goesOn(copy) ? (
        <>
          <Progress className="fl-line-progress" percent={percent} size="small" showInfo={false} status="active" aria-label={t('machine.progress', { what })} />
          <span className="zs-soft zs-number" role="status">
            {total === null ? format.bytes(done) : t('transfer.of', { bytes: format.bytes(done), size: format.bytes(total) })}
          </span>
          <Button size="small" loading={cancel.isPending} onClick={() => cancel.mutate({ params: { id } })}>
            {t('cancel')}
          </Button>
        </>
      ) : (
        <span className={status === 'failed' ? 'fl-bad' : 'zs-soft'} role="status">
          {error !== null && status === 'failed' ? error : t(`outcome.${status === 'done' ? 'done' : status === 'failed' ? 'failed' : 'cancelled'}`)}
          {status === 'done' && ` · ${format.bytes(total ?? done)}`}
          {skipped > 0 && ` · ${t('machine.skipped', { count: skipped })}`}
        </span>
      )}
    </li>
  )
}
