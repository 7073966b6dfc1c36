import Alert from 'antd/es/alert'
import type { ComputeStorageMessage, ComputeVolume } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import './storage.css'

/** The instances that have a volume, and what it is called there. */
export function AttachedTo({ attachments, nameOf }: { readonly attachments: ComputeVolume['attachments']; readonly nameOf: (id: string) => string }) {
  const { t } = useTranslation('computeStorage')
  if (attachments.length === 0) return <span className="zs-soft">{t('volume.free')}</span>
  return attachments.map(({ server_id, device }) => (
    <div key={server_id}>
      <Link to={paths.compute.instance.detail(server_id)} className="zs-cut" title={nameOf(server_id)} style={{ maxWidth: 200 }}>
        {nameOf(server_id)}
      </Link>
      <div className="zs-name-note zs-code">{device}</div>
    </div>
  ))
}

/** What the cloud told about one thing that something failed with. */
export function Messages({ messages }: { readonly messages: readonly ComputeStorageMessage[] }) {
  const { t } = useTranslation('computeStorage')
  if (messages.length === 0) return <EmptyState title={t('message.empty')} />
  return (
    <ul className="zs-list co-messages" aria-label={t('message.label')}>
      {messages.map(({ id, text, at, request_id }) => (
        <li key={id}>
          <div>{text}</div>
          <div className="zs-name-note">
            {format.dateTime(at)}
            {request_id !== null && (
              <>
                {' · '}
                {t('column.request')} <code>{request_id}</code>
              </>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** What went wrong last, in the cloud's words. */
export function Failure({ text }: { readonly text: string | null }) {
  const { t } = useTranslation('computeStorage')
  return <Alert className="zs-above" type="error" showIcon title={t('volume.failed')} description={text ?? t('volume.failedNote')} />
}
