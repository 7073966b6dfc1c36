import Alert from 'antd/es/alert'
import Dropdown from 'antd/es/dropdown'
import Button from 'antd/es/button'
import { cannedAnswers, ticketDesk } from '@zhisuan/contract/ticket/desk'
import { ticketCan, ticketPriorities, ticketReviewed, ticketTypes, type TicketDetail as Detail } from '@zhisuan/contract/ticket/ticket'
import { lazy, useState } from 'react'
import { useParams } from 'react-router'
import { useCall, useChange, useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { ReplyBox } from './ReplyBox.tsx'
import { Thread } from './Thread.tsx'
import { useRead, useTicketFacts } from './TicketDetail.tsx'
import { invalidatedByTicket, ticketTones } from './ticketTexts.ts'
import './ticket.css'

const AssignDialog = lazy(() => import('./AssignDialog.tsx'))
const ReasonDialog = lazy(() => import('../../kit/ReasonDialog.tsx'))

/** A work order as those see it who answer. */
export default function DeskDetail() {
  const { t } = useTranslation('ticket')
  const { id = '' } = useParams()
  const query = useOne(ticketDesk.get, { params: { id } })
  useRead(id, query.data?.entries.length)
  const [secret, setSecret] = useState<string | null>(null)
  const how = { invalidates: invalidatedByTicket, silent: true } as const
  const claim = useChange(ticketDesk.claim, how)
  const answer = useChange(ticketDesk.answer, how)
  const note = useChange(ticketDesk.note, how)
  const review = useChange(ticketDesk.review, how)
  const prioritise = useChange(ticketDesk.prioritise, how)
  const retype = useChange(ticketDesk.retype, how)
  const reveal = useChange(ticketDesk.reveal, how)
  const params = { id }
  const may = (ticket: Detail, which: keyof typeof ticketCan): boolean => (ticketCan[which] as readonly string[]).includes(ticket.status)
  const actionsOf = (ticket: Detail): readonly Action[] => [
    ...(may(ticket, 'claim')
      ? [{ key: 'claim', call: ticketDesk.claim, label: t('action.claim'), doneText: t('action.claimed'), run: () => claim.mutateAsync({ params }) }]
      : []),
    ...(may(ticket, 'review')
      ? [
          {
            key: 'accept',
            call: ticketDesk.review,
            label: t('action.accept'),
            confirm: { title: t('action.acceptTitle'), body: t('action.acceptBody') },
            doneText: t('action.accepted'),
            run: () => review.mutateAsync({ params, body: { accept: true } }),
          },
          {
            key: 'refuse',
            call: ticketDesk.review,
            label: t('action.refuse'),
            dialog: (close: () => void) => (
              <ReasonDialog
                title={t('action.refuseTitle')}
                label={t('action.refuseReason')}
                missing={t('reply.missing')}
                okText={t('action.refuse')}
                doneText={t('action.refused')}
                onReason={(reason) => review.mutateAsync({ params, body: { accept: false, reason } })}
                onClose={close}
              />
            ),
          },
        ]
      : []),
    ...(may(ticket, 'assign')
      ? [{ key: 'assign', call: ticketDesk.assign, label: t('action.assign'), dialog: (close: () => void) => <AssignDialog ticket={ticket} onClose={close} /> }]
      : []),
    ...(ticket.has_secret
      ? [
          {
            key: 'reveal',
            call: ticketDesk.reveal,
            label: t('action.reveal'),
            confirm: { title: t('action.revealTitle'), body: t('action.revealBody') },
            run: async () => setSecret((await reveal.mutateAsync({ params })).secret),
          },
        ]
      : []),
    ...(may(ticket, 'prioritise')
      ? ticketPriorities
          .filter((one) => one !== ticket.priority)
          .map((priority) => ({
            key: priority,
            call: ticketDesk.prioritise,
            label: `${t('action.prioritise')}：${t(`priority.${priority}`)}`,
            doneText: t('action.prioritised'),
            run: () => prioritise.mutateAsync({ params, body: { priority } }),
          }))
      : []),
    ...(may(ticket, 'retype')
      ? ticketTypes
          .filter((one) => one !== ticket.type)
          .map((type) => ({
            key: type,
            call: ticketDesk.retype,
            label: `${t('action.retype')}：${t(`type.${type}`)}`,
            doneText: t('action.retyped'),
            run: () => retype.mutateAsync({ params, body: { type } }),
          }))
      : []),
  ]
  const facts = useTicketFacts()
  return (
    <DetailPage
      query={query}
      gone={{ title: t('gone'), note: t('goneNote'), back: t('back'), to: paths.workOrder.list() }}
      title={({ title }) => title}
      status={({ status }) => <StatusTag tone={ticketTones[status]}>{t(`status.${status}`)}</StatusTag>}
      actions={actionsOf}
      facts={facts}
      notice={({ status }) => (
        <>
          {status === 'reviewing' && <Alert className="zs-above" type="info" showIcon title={t('reviewDesk')} />}
          {secret !== null && (
            <Alert
              className="zs-above"
              type="warning"
              title={t('action.secret')}
              description={<CopyCode text={secret} />}
              action={
                <Button size="small" onClick={() => setSecret(null)}>
                  {t('action.close')}
                </Button>
              }
            />
          )}
        </>
      )}
    >
      {(ticket) => (
        <section className="zs-card">
          <Thread id={id} type={ticket.type} entries={ticket.entries} />
          {may(ticket, 'answer') && (
            <ReplyBox
              draft={`desk ${id}`}
              label={t('desk.answer')}
              placeholder={t('desk.answerPlaceholder')}
              ways={[
                { key: 'stay', label: t('desk.send'), primary: true, send: (said) => answer.mutateAsync({ params, body: { ...said, next: 'stay' } }) },
                { key: 'ask', label: t('desk.ask'), send: (said) => answer.mutateAsync({ params, body: { ...said, next: 'ask' } }) },
                {
                  key: 'resolve',
                  label: t(ticketReviewed.includes(ticket.type) ? 'desk.resolveReview' : 'desk.resolve'),
                  send: (said) => answer.mutateAsync({ params, body: { ...said, next: 'resolve' } }),
                },
                { key: 'note', label: t('desk.noteSend'), send: (body) => note.mutateAsync({ params, body }) },
              ]}
              extra={(insert) => <Canned onChoose={insert} />}
            />
          )}
        </section>
      )}
    </DetailPage>
  )
}

function Canned({ onChoose }: { readonly onChoose: (text: string) => void }) {
  const { t } = useTranslation('ticket')
  const { data } = useCall(cannedAnswers.list, {}, { silent: true })
  const items = data?.items ?? []
  if (items.length === 0) return null
  return (
    <Dropdown trigger={['click']} menu={{ items: items.map(({ id, title, text }) => ({ key: id, label: title, onClick: () => onChoose(text) })) }}>
      <Button>{t('desk.canned')}</Button>
    </Dropdown>
  )
}
