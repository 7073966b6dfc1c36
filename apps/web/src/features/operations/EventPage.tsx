import { apiEvents, eventOutcomes, eventTypes, type ApiEvent } from '@zhisuan/contract/omc/log'
import type { BodyInput } from '@zhisuan/contract/define'
import { kindText } from '@zhisuan/contract/kindTexts'
import { messageKinds, type MessageKind } from '@zhisuan/contract/sys/message'
import Button from 'antd/es/button'
import { Link } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { textsOf, useTranslation } from '../../i18n.ts'
import { actionText } from '../../kit/actionText.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { saveFrom } from '../../kit/save.ts'
import { pageOf } from '../../kinds.ts'
import { OnwardsTable } from './OnwardsTable.tsx'
import { TimeFilters, useTimeFilters } from './TimeFilters.tsx'

const tones = { running: 'busy', succeeded: 'good', failed: 'bad', cancelled: 'rest' } as const
const message = textsOf('message')

/** What happened is called as policies and messages call it. */
const whatText = ({ type, what }: ApiEvent): string =>
  type === 'message' && Object.hasOwn(messageKinds, what) ? message(`kind.${what as MessageKind}`) : actionText(what)

/** What happened on the platform: changes, long work and how it ended, what was told. */
export default function EventPage() {
  const { t } = useTranslation('operations')
  const times = useTimeFilters()
  const save = useChange(apiEvents.export, { onDone: ({ path }) => saveFrom(path) })
  return (
    <div className="zs-card">
      <TimeFilters times={times} />
      <OnwardsTable<ApiEvent, typeof apiEvents.list>
        call={apiEvents.list}
        query={times.given}
        columns={[
          col.date<ApiEvent>('at', t('column.at'), ({ at }) => at),
          col.text<ApiEvent>('type', t('event.type'), ({ type }) => t(`event.types.${type}`), { width: 80 }),
          col.text<ApiEvent>('what', t('event.what'), whatText, { note: ({ what }) => what, width: 220 }),
          col.status<ApiEvent>('outcome', t('column.result'), ({ outcome }) => ({ tone: tones[outcome], text: t(`event.outcome.${outcome}`) }), { width: 100 }),
          col.custom<ApiEvent>(
            'about',
            t('event.about'),
            ({ about }) => {
              const page = about.kind === null || about.id === null ? null : pageOf(about.kind, { id: about.id, name: about.name })
              const name = about.name || (about.id ?? '')
              return (
                <>
                  {page === null || name === '' ? name : <Link to={page}>{name}</Link>}
                  {about.kind !== null && <div className="zs-name-note">{kindText(about.kind, '')}</div>}
                </>
              )
            },
            { width: 200 },
          ),
          col.text<ApiEvent>('text', t('event.text'), ({ text }) => text, { width: 260 }),
          col.text<ApiEvent>('actor', t('column.actor'), ({ actor_name }) => actor_name, { width: 110 }),
          col.organisation<ApiEvent>(t('column.organisation'), { when: true }),
        ]}
        filters={[
          filter.keyword(t('event.keyword')),
          filter.oneOf('type', t('event.type'), eventTypes, (one) => t(`event.types.${one}`)),
          filter.oneOf('outcome', t('column.result'), eventOutcomes, (one) => t(`event.outcome.${one}`)),
        ]}
        toolbar={(filters) => (
          <Button
            loading={save.isPending}
            // Assembled from the address: the server judges what is in it.
            onClick={() => save.mutate({ body: { format: 'csv', ...filters, ...times.given } as BodyInput<typeof apiEvents.export> })}
          >
            {t('exportCsv')}
          </Button>
        )}
        empty={{ title: t('event.empty') }}
      />
    </div>
  )
}
