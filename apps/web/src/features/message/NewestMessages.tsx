import Skeleton from 'antd/es/skeleton'
import { messages } from '@zhisuan/contract/sys/message'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import { MessageLink } from './MessageLink.tsx'
import { ReadAllButton } from './ReadAllButton.tsx'
import './message.css'

const shown = 5

/** What the bell opens: the newest messages, and the way to all of them. */
export default function NewestMessages({ unread, onClose }: { readonly unread: number; readonly onClose: () => void }) {
  const { t } = useTranslation('message')
  const { data, error, refetch } = useCall(messages.list, { query: { page_size: shown } }, { silent: true })
  return (
    <section className="message-newest" aria-label={t('newest')}>
      <div className="zs-newest-head">
        <strong>{t('title')}</strong>
        <ReadAllButton type="link" size="small" none={unread === 0}>
          {t('markAll')}
        </ReadAllButton>
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton active title={false} paragraph={{ rows: shown }} />
        ) : (
          <ErrorPanel error={error} title={t('failed')} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={t('empty')}>{t('emptyNote')}</EmptyState>
      ) : (
        <ul className="zs-list">
          {data.items.map((message) => (
            <li key={message.id}>
              <MessageLink message={message} onFollow={onClose} />
              <time className="zs-number zs-soft" dateTime={message.at}>
                {format.dateTime(message.at)}
              </time>
            </li>
          ))}
        </ul>
      )}
      <div className="zs-newest-foot">
        <Link to={paths.messages()} onClick={onClose}>
          {t('viewAll')}
        </Link>
      </div>
    </section>
  )
}
