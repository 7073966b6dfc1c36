import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import DownloadOutlined from '@ant-design/icons/es/icons/DownloadOutlined'
import ExpandOutlined from '@ant-design/icons/es/icons/ExpandOutlined'
import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import Skeleton from 'antd/es/skeleton'
import { commands, type CommandResult } from '@zhisuan/contract/nextstack/command'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { request, toApiError } from '../../../api/client.ts'
import { useCall } from '../../../api/hooks.ts'
import { toastError } from '../../../api/notify.ts'
import { copyText } from '../../../kit/copy.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { downloadText } from '../../../kit/save.ts'
import { consoleLines } from '../../../kit/logText.ts'
import { commandTones, elapsedMs, isOpen } from './commandState.ts'
import '../compute.css'

/** What a command says in one instance: its state, its end, and the end of what it printed. */
export function OutputPane({ command, result }: { readonly command: string; readonly result: CommandResult }) {
  const { t } = useTranslation('nextstackCompute')
  const [expanded, setExpanded] = useState(false)
  const { vm, status, exit_code } = result
  const printed = result.stdout !== '' || result.stderr !== ''
  const id = `output-${vm.id}`

  const whole = async (use: (text: string) => unknown): Promise<void> => {
    try {
      use(textOf(result.more ? await request(commands.result, { params: { id: command, vm_id: vm.id } }) : result))
    } catch (error) {
      toastError(toApiError(error))
    }
  }
  return (
    <article className="nc-pane" aria-labelledby={id}>
      <header>
        <h3 id={id}>
          <Link to={paths.nextstack.vm.detail(vm.id)} className="zs-cut">
            {vm.name}
          </Link>
        </h3>
        <StatusTag tone={commandTones[status]}>{t(`command.status.${status}`)}</StatusTag>
        <span className="zs-soft zs-number">
          {exit_code !== null && t('command.pane.exit', { code: exit_code })} {result.started_at !== null && <Elapsed of={result} />}
        </span>
        <span className="nc-pane-buttons">
          <Button
            type="text"
            size="small"
            icon={<CopyOutlined />}
            aria-label={t('command.pane.copy')}
            title={t('command.pane.copy')}
            disabled={!printed}
            onClick={() => void whole(copyText)}
          />
          <Button
            type="text"
            size="small"
            icon={<DownloadOutlined />}
            aria-label={t('command.pane.download')}
            title={t('command.pane.download')}
            disabled={!printed}
            onClick={() => void whole((text) => downloadText(`${vm.name}.log`, text))}
          />
          <Button
            type="text"
            size="small"
            icon={<ExpandOutlined />}
            aria-label={t('command.pane.expand')}
            title={t('command.pane.expand')}
            disabled={!printed}
            onClick={() => setExpanded(true)}
          />
        </span>
      </header>
      {result.error !== null && <p className="zs-bad nc-pane-note">{result.error}</p>}
      {printed ? (
        <Printed of={result} label={t('command.pane.label', { name: vm.name })} />
      ) : (
        <p className="zs-soft nc-pane-note">
          {t(status === 'queued' ? 'command.pane.waiting' : isOpen(result) ? 'command.pane.running' : 'command.pane.none')}
        </p>
      )}
      {result.more && <p className="zs-soft nc-pane-note">{t('command.pane.more')}</p>}
      {!result.more && result.truncated && <p className="zs-soft nc-pane-note">{t('command.pane.truncated')}</p>}
      {expanded && <Expanded command={command} result={result} onClose={() => setExpanded(false)} />}
    </article>
  )
}

const textOf = ({ stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>): string => [stdout, stderr].filter((text) => text !== '').join('\n')

/** Both streams, as a person would have read them; stays at the end while more comes. */
function Printed({ of: { stdout, stderr }, label }: { readonly of: Pick<CommandResult, 'stdout' | 'stderr'>; readonly label: string }) {
  const { t } = useTranslation('nextstackCompute')
  const box = useRef<HTMLPreElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    if (atEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [stdout, stderr])
  return (
    <pre
      ref={box}
      className="nc-output"
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={({ currentTarget: at }) => {
        atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24
      }}
    >
      {consoleLines(stdout).join('\n')}
      {stderr !== '' && (
        <>
          {stdout !== '' && '\n'}
          <span className="nc-stderr">
            <span className="nc-stream">{t('command.pane.stderr')}</span>
            {consoleLines(stderr).join('\n')}
          </span>
        </>
      )}
    </pre>
  )
}

function Expanded({ command, result, onClose }: { readonly command: string; readonly result: CommandResult; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstackCompute')
  const { data, error, refetch } = useCall(
    commands.result,
    { params: { id: command, vm_id: result.vm.id } },
    { silent: true, refreshMs: (now) => (now === undefined || isOpen(now) ? 3_000 : false) },
  )
  return (
    <Modal
      open
      width="min(1200px, 96vw)"
      title={t('command.pane.label', { name: result.vm.name })}
      footer={<Button onClick={onClose}>{t('command.pane.close')}</Button>}
      onCancel={onClose}
      className="nc-expanded"
    >
      {data === undefined ? (
        error === null ? (
          <Skeleton active />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Printed of={data} label={t('command.pane.label', { name: result.vm.name })} />
      )}
      {data?.truncated === true && <p className="zs-soft">{t('command.pane.truncated')}</p>}
    </Modal>
  )
}

/** Counts while it runs. */
function Elapsed({ of }: { readonly of: CommandResult }) {
  const [now, setNow] = useState(() => Date.now())
  const open = isOpen(of)
  useEffect(() => {
    if (!open) return undefined
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [open])
  return format.duration(elapsedMs(of, now))
}
