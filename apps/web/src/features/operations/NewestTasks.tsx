import Progress from 'antd/es/progress'
import Button from 'antd/es/button'
import Segmented from 'antd/es/segmented'
import Skeleton from 'antd/es/skeleton'
import { tasks, type Task } from '@zhisuan/contract/omc/task'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { actionText } from '../../kit/actionText.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { OperationSteps, operationTones } from '../../kit/OperationTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { pauseUpload, resumeUpload, useUploads, type OwnUpload } from '../../kit/uploads.ts'
import { paths } from '../../paths.ts'
import { useTaskActions, useTaskPage } from './taskActions.ts'
import './tasks.css'

const shownMost = 5
const lateMs = 24 * 60 * 60_000
/** How far it is shows without anybody telling. */
const refreshMs = 5_000

/** What runs, what this tab sends, and what failed lately: of oneself, or of all that one may see. */
export default function NewestTasks({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('task')
  const [whose, setWhose] = useState<'mine' | 'all'>('mine')
  const [from] = useState(() => new Date(Date.now() - lateMs).toISOString())
  const asked = { page_size: shownMost, ...(whose === 'mine' && { mine: 'true' as const }) }
  const open = useCall(
    tasks.list,
    { query: { ...asked, state: 'open' } },
    { silent: true, refreshMs: (list) => (list?.items.length === 0 ? false : refreshMs) },
  )
  const failed = useCall(tasks.list, { query: { ...asked, state: 'failed', from } }, { silent: true })
  const uploads = useUploads()
  const error = open.error ?? failed.error
  const nothing = open.data?.items.length === 0 && failed.data?.items.length === 0 && uploads.length === 0
  return (
    <section className="task-newest" aria-label={t('newest')}>
      <div className="zs-newest-head">
        <strong>{t('title')}</strong>
        <Segmented
          size="small"
          aria-label={t('whose')}
          value={whose}
          onChange={setWhose}
          options={[
            { value: 'mine', label: t('mine') },
            { value: 'all', label: t('all') },
          ]}
        />
      </div>
      {open.data === undefined || failed.data === undefined ? (
        error === null ? (
          <Skeleton active title={false} paragraph={{ rows: shownMost }} />
        ) : (
          <ErrorPanel error={error} title={t('unread')} onRetry={() => void Promise.all([open.refetch(), failed.refetch()])} />
        )
      ) : nothing ? (
        <EmptyState title={t('none')}>{t('noneNote')}</EmptyState>
      ) : (
        <>
          <Part title={t('running')}>
            {open.data.items.map((task) => (
              <TaskLine key={task.id} task={task} onFollow={onClose} />
            ))}
          </Part>
          <Part title={t('uploads')}>
            {uploads.map((upload) => (
              <UploadLine key={upload.id} upload={upload} onFollow={onClose} />
            ))}
          </Part>
          <Part title={t('failedLately')}>
            {failed.data.items.map((task) => (
              <TaskLine key={task.id} task={task} onFollow={onClose} />
            ))}
          </Part>
        </>
      )}
      <div className="zs-newest-foot">
        <Link to={paths.tasks()} onClick={onClose}>
          {t('viewAll')}
        </Link>
      </div>
    </section>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null
  return (
    <>
      <h2 className="task-part">{title}</h2>
      <ul className="zs-list" aria-label={title}>
        {children}
      </ul>
    </>
  )
}

function TaskLine({ task, onFollow }: { readonly task: Task; readonly onFollow: () => void }) {
  const { t } = useTranslation('task')
  const { t: kit } = useTranslation('kit')
  const to = useTaskPage()(task)
  const actions = useTaskActions()(task)
  const name = task.about.name || actionText(task.kind)
  return (
    <li>
      <div className="zs-newest-head">
        <span>{actionText(task.kind)}</span>
        <StatusTag tone={operationTones[task.status]}>{kit(`operation.status.${task.status}`)}</StatusTag>
      </div>
      <div className="zs-newest-head">
        {to === null ? (
          <span className="zs-cut">{name}</span>
        ) : (
          <Link className="zs-cut" to={to} onClick={onFollow}>
            {name}
          </Link>
        )}
        {task.cancellable && <ActionMenu actions={actions} label={name} />}
      </div>
      <OperationSteps operation={task} />
      <span className="task-by zs-soft">{t('by', { name: task.actor_name, when: format.dateTime(task.created_at) })}</span>
    </li>
  )
}

/** One that is on its way from this tab; a reload ends it. */
function UploadLine({ upload, onFollow }: { readonly upload: OwnUpload; readonly onFollow: () => void }) {
  const { t } = useTranslation('task')
  const percent = upload.totalBytes === 0 ? 100 : Math.floor((upload.sentBytes / upload.totalBytes) * 100)
  return (
    <li>
      <div className="zs-newest-head">
        <Link className="zs-cut" to={upload.place} onClick={onFollow}>
          {upload.name}
        </Link>
        <span className="zs-soft zs-number">{upload.state === 'failed' ? t('broken') : upload.state === 'paused' ? t('paused') : `${percent}%`}</span>
      </div>
      <div className="zs-newest-head">
        <Progress
          percent={percent}
          size="small"
          showInfo={false}
          status={upload.state === 'failed' ? 'exception' : 'normal'}
          aria-label={t('uploadOf', { name: upload.name })}
        />
        {upload.state === 'running' ? (
          <Button size="small" onClick={() => pauseUpload(upload.id)}>
            {t('pause')}
          </Button>
        ) : (
          <Button size="small" onClick={() => resumeUpload(upload.id)}>
            {t('goOn')}
          </Button>
        )}
      </div>
    </li>
  )
}
