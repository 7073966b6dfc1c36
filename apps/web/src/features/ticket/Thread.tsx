import Spin from 'antd/es/spin'
import { ticketReviewed, tickets, type TicketEntry, type TicketFile, type TicketType } from '@zhisuan/contract/ticket/ticket'
import { lazy, Suspense } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { saveFrom } from '../../kit/save.ts'
import './ticket.css'

const Prose = lazy(() => import('../../kit/Prose.tsx'))
/** What somebody wrote; all others tell what was done, in a line. */
const written: readonly TicketEntry['kind'][] = ['text', 'note', 'created', 'asked', 'resolved']

/** All that was said, the oldest first. */
export function Thread({ id, type, entries }: { readonly id: string; readonly type: TicketType; readonly entries: readonly TicketEntry[] }) {
  const { t } = useTranslation('ticket')
  const download = useChange(tickets.download)
  const save = async (file: TicketFile): Promise<void> => saveFrom((await download.mutateAsync({ params: { id, file_id: file.id } })).path)
  return (
    <ol className="tk-thread zs-list" aria-label={t('thread')}>
      {entries.map((entry) => (
        <li
          key={entry.id}
          className={written.includes(entry.kind) ? `tk-said ${entry.internal ? 'tk-internal' : entry.staff === true ? 'tk-staff' : ''}` : 'tk-done'}
        >
          <p className="tk-head">
            <b>{entry.staff === null ? t('platform') : entry.by}</b>
            {entry.staff === true && <span className="tk-chip">{t('staff')}</span>}
            {entry.kind !== 'text' && (
              <span>
                {entry.kind === 'confirmed' && entry.staff === null ? t('confirmedByItself') : t(`entry.${entry.kind}`)}
                {!written.includes(entry.kind) && entry.text !== '' && `：${entry.text}`}
              </span>
            )}
            {/* Money and rights are decided by what a reviewer let out, and by nothing that is said before. */}
            {ticketReviewed.includes(type) && entry.staff === true && !entry.internal && (entry.kind === 'text' || entry.kind === 'asked') && (
              <span className="zs-soft">{t('unreviewed')}</span>
            )}
            {entry.internal && <span className="zs-soft">{t('internal')}</span>}
            <time className="zs-soft zs-number" dateTime={entry.at}>
              {format.dateTime(entry.at)}
            </time>
          </p>
          {written.includes(entry.kind) && (
            <Suspense fallback={<Spin />}>
              <Prose markdown={entry.text} />
            </Suspense>
          )}
          {entry.files.length > 0 && (
            <p className="tk-files">
              {entry.files.map((file) => (
                <button key={file.id} type="button" className="zs-linkbutton" onClick={() => void save(file)}>
                  {file.name}（{format.bytes(file.size_bytes)}）
                </button>
              ))}
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}
