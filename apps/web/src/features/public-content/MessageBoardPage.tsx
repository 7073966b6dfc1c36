import Skeleton from 'antd/es/skeleton'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../i18n.ts'
import { system } from '@zhisuan/contract/sys/sys'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { useCall } from '../../api/hooks.ts'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { useMayCall } from '../../session/user.ts'
import './content.css'
import { MessageForm } from './MessageForm.tsx'

// Visitors never see the list, nor load it.
const MessageList = lazy(() => import('./MessageList.tsx'))

/** Where visitors leave a message, and administrators read them. */
export default function MessageBoardPage() {
  const { t } = useTranslation('content')
  const mayRead = useMayCall(consultations.list)
  return (
    <div className={mayRead ? 'content-board content-board-wide' : 'content-board'}>
      <h1 id="page-title" tabIndex={-1}>
        {t('board.title')}
      </h1>
      <p className="content-board-lead">{t('board.lead')}</p>
      {mayRead ? (
        <DetailTabs
          tabs={[
            {
              key: 'list',
              label: t('board.listTab'),
              content: (
                <Suspense fallback={<Skeleton active />}>
                  <MessageList />
                </Suspense>
              ),
            },
            { key: 'leave', label: t('board.leaveTab'), content: <Leave /> },
          ]}
        />
      ) : (
        <div className="zs-card">
          <Leave />
        </div>
      )}
    </div>
  )
}

function Leave() {
  const { t } = useTranslation('content')
  const { data, error, refetch } = useCall(system.info, {}, { silent: true })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 6 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  // Without a way to send the code a form would only lead to a refusal.
  return data.sms_available ? (
    <div className="content-board-form">
      <MessageForm />
    </div>
  ) : (
    <EmptyState title={t('board.unavailable')}>{t('board.unavailableText')}</EmptyState>
  )
}
