import CloseOutlined from '@ant-design/icons/es/icons/CloseOutlined'
import Button from 'antd/es/button'
import Skeleton from 'antd/es/skeleton'
import { commands, type Command } from '@zhisuan/contract/nextstack/command'
import { useEffect, useRef } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { commandTones, isOpen } from './commandState.ts'
import { resultText } from './commandTexts.ts'
import { OutputPane } from './OutputPane.tsx'
import { useCommandActions, type EditCommand } from './useCommandActions.tsx'
import '../compute.css'

/** One command: how it stands, and what each instance printed, side by side. */
export function CommandResults({
  id,
  onEdit,
  onShow,
  onClose,
}: {
  readonly id: string
  readonly onEdit: EditCommand
  readonly onShow: (command: Command) => void
  readonly onClose: () => void
}) {
  const { t } = useTranslation('nextstackCompute')
  const { data, error, refetch } = useCall(
    commands.get,
    { params: { id } },
    { silent: true, refreshMs: (command) => (command === undefined || isOpen(command) ? 1_500 : false) },
  )
  const actionsOf = useCommandActions({ onEdit, onShow })
  const head = useRef<HTMLHeadingElement>(null)
  // Whoever began it, or chose it from the list below, is taken to what it says.
  useEffect(() => {
    // In braces: browsers answer a promise, which React would take for what cleans up.
    void head.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <section className="zs-card" aria-labelledby="command-results">
      <div className="nc-head">
        <h2 className="zs-heading" id="command-results" ref={head}>
          {t('command.results')}
          {data !== undefined && <span className="zs-cut nc-title">{data.name}</span>}
        </h2>
        {data !== undefined && (
          <>
            <span role="status" className="nc-state">
              <StatusTag tone={commandTones[data.status]}>{t(`command.status.${data.status}`)}</StatusTag>
              <span className="zs-soft zs-number">{resultText(t, data)}</span>
            </span>
            <ActionMenu actions={actionsOf(data)} shown={3} look="default" label={t('command.results')} />
          </>
        )}
        <Button type="text" icon={<CloseOutlined />} aria-label={t('command.close')} onClick={onClose} />
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton active />
        ) : error.status === 404 ? (
          <EmptyState title={t('command.gone')} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          <details>
            <summary>{t('command.script')}</summary>
            <pre className="nc-code nc-wrap" tabIndex={0} role="region" aria-label={t('command.script')}>
              {data.script}
            </pre>
          </details>
          <div className="nc-panes">
            {data.results.map((result) => (
              <OutputPane key={result.vm.id} command={data.id} result={result} />
            ))}
          </div>
        </>
      )}
    </section>
  )
}
