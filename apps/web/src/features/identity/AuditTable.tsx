import Drawer from 'antd/es/drawer'
import type { QueryInput } from '@zhisuan/contract/define'
import { errorByCode, errors } from '@zhisuan/contract/errors'
import { auditAsked, audits, type AuditRecord } from '@zhisuan/contract/iam/audit'
import type { TFunction } from 'i18next'
import { type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { withQuery } from '../../paths.ts'
import { actionText } from '../../kit/actionText.ts'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

type T = TFunction<'identity'>

/** What came of it, in the catalogue's words; what a text would have filled in is not kept. */
function resultText(t: T, code: number): string {
  if (code === 0) return t('audit.succeeded')
  if (code === auditAsked) return t('audit.asked')
  return t('audit.refused', { reason: errorByCode.get(code)?.text.replaceAll(/[：:，]?\{\w+\}/g, '…') ?? String(code) })
}

/** Who asked for what, and what came of it; `query` says of whom and when. */
export function AuditTable({
  name,
  query = {},
  toolbar,
}: {
  readonly name?: string
  readonly query?: Partial<QueryInput<typeof audits.list>>
  readonly toolbar?: ReactNode
}) {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  return (
    <>
      <ResourceTable
        {...(name !== undefined && { name })}
        call={audits.list}
        input={{ query }}
        columns={[
          col.number<AuditRecord>('number', t('column.number'), ({ number }) => number, { sort: true, width: 80 }),
          col.date<AuditRecord>('at', t('column.at'), ({ at }) => at),
          col.text<AuditRecord>('actor', t('column.actor'), ({ actor }) => actor?.name ?? t('audit.nobody'), {
            to: ({ actor }) => (actor === null ? null : pages.user.detail(actor.id)),
            // No column of its own: the last one would lie under the actions, which stay in sight.
            note: ({ ip }) => ip,
            width: 130,
          }),
          col.text<AuditRecord>('call', t('column.action'), ({ call }) => actionText(call), { width: 200, note: ({ call }) => call }),
          col.status<AuditRecord>(
            'result',
            t('column.result'),
            ({ code }) => ({ tone: code === 0 ? 'good' : code === auditAsked ? 'rest' : 'bad', text: resultText(t, code) }),
            {
              width: 160,
            },
          ),
          col.text<AuditRecord>('object', t('column.object'), ({ object_name, object_id }) => object_name ?? object_id, {
            note: ({ object_name, object_id }) => (object_name === null ? '' : (object_id ?? '')),
            width: 160,
          }),
        ]}
        filters={[
          filter.keyword(t('audit.keyword')),
          filter.keyword(t('audit.object'), 'object_id'),
          filter.oneOf('refused', t('audit.refusedFilter'), ['false', 'true'], (value) => t(`audit.outcome.${value}`)),
        ]}
        rowActions={(record) => [{ key: 'detail', call: null, label: t('action.detail'), dialog: (close) => <Entry record={record} onClose={close} /> }]}
        toolbar={toolbar}
        empty={{ title: t('audit.empty') }}
      />
    </>
  )
}

/** All that the log keeps of one call. */
function Entry({ record, onClose }: { readonly record: AuditRecord; readonly onClose: () => void }) {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  useReturnFocus()
  const { number, at, actor, access_key, call, code, object_id, object_name, bp_id, ip, request_id, hash } = record
  const facts: readonly (readonly [label: string, value: ReactNode])[] = [
    [t('column.at'), format.dateTime(at)],
    [
      t('column.actor'),
      actor === null ? (
        t('audit.nobody')
      ) : (
        <>
          <Link to={pages.user.detail(actor.id)}>{actor.name}</Link>{' '}
          <Link to={withQuery(pages.audit(), { actor_id: actor.id })} onClick={onClose}>
            {t('audit.sameActor')}
          </Link>
        </>
      ),
    ],
    ...(access_key === null ? [] : [[t('audit.accessKey'), access_key.name] as const]),
    ...(everybody
      ? [[t('column.organisation'), bp_id === null ? t('platform') : <Link to={withQuery(pages.partners(), { id: bp_id })}>{bp_id}</Link>] as const]
      : []),
    [t('column.action'), actionText(call)],
    [
      t('audit.call'),
      <span key="call" className="zs-code">
        {call}
      </span>,
    ],
    [
      t('column.result'),
      <StatusTag key="result" tone={code === 0 ? 'good' : 'bad'}>
        {resultText(t, code)}
      </StatusTag>,
    ],
    ...(code === 0 ? [] : [[t('audit.code'), String(code)] as const]),
    ...(code !== errors.noPermission.code || actor === null
      ? []
      : [
          [
            t('audit.why'),
            <Link key="why" to={withQuery(pages.authorize(), { tab: 'why', user: actor.id, action: call, ...(object_id !== null && { resource: object_id }) })}>
              {t('audit.whyRefused')}
            </Link>,
          ] as const,
        ]),
    [
      t('column.object'),
      object_id === null ? (
        format.nothing
      ) : (
        <>
          {object_name} <span className="zs-code">{object_id}</span>{' '}
          <Link to={withQuery(pages.audit(), { object_id })} onClick={onClose}>
            {t('audit.sameObject')}
          </Link>
        </>
      ),
    ],
    [
      t('column.ip'),
      <span key="ip" className="zs-code">
        {ip}
      </span>,
    ],
    [
      t('audit.requestId'),
      <span key="request" className="zs-code">
        {request_id}
      </span>,
    ],
    [
      t('audit.hash'),
      <span key="hash" className="zs-code">
        {hash}
      </span>,
    ],
  ]
  return (
    <Drawer open size={520} title={t('audit.entry', { number })} onClose={onClose}>
      <dl className="identity-facts">{facts.flatMap(([label, value]) => [<dt key={`${label} of`}>{label}</dt>, <dd key={label}>{value}</dd>])}</dl>
      <p className="zs-soft">{t('audit.notKept')}</p>
    </Drawer>
  )
}
