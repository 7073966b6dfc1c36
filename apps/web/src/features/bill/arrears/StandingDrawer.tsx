import Drawer from 'antd/es/drawer'
import { standings, type StandingChange, type SuspendedResource } from '@zhisuan/contract/bill/arrears'
import { notices, type Notice } from '@zhisuan/contract/bill/notice'
import { kindApart } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { col } from '../../../kit/columns.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

const tones: Readonly<Record<SuspendedResource['state'], StatusTone>> = { stopping: 'busy', stopped: 'rest', starting: 'busy', started: 'good', left: 'rest' }

/** How an organisation's standing changed, what was stopped, and what it was told. Needs the messages of `arrears`. */
export function StandingDrawer({ organisation, onClose }: { readonly organisation: { id: string; name: string }; readonly onClose: () => void }) {
  const { t } = useTranslation('arrears')
  const params = { id: organisation.id }
  return (
    <Drawer open size={880} title={t('standing.of', { name: organisation.name })} onClose={onClose}>
      <h2 className="zs-heading">{t('standing.history')}</h2>
      <ResourceTable
        call={standings.history}
        name="history"
        input={{ params }}
        columns={[
          col.date<StandingChange>('at', t('standing.at'), ({ at }) => at),
          col.text<StandingChange>('change', t('standing.change'), ({ from, to }) => `${t(`state.${from}`)} → ${t(`state.${to}`)}`, { width: 220 }),
          col.money<StandingChange>('balance', t('standing.balance'), ({ balance }) => balance, { width: 140 }),
        ]}
        empty={{ title: t('standing.historyNone') }}
      />
      <h2 className="zs-heading">{t('standing.resources')}</h2>
      <ResourceTable
        call={standings.resources}
        name="resources"
        input={{ params }}
        columns={[
          col.name<SuspendedResource>('name', t('resource.name'), ({ name }) => name, { note: ({ kind }) => kindApart(kind) }),
          col.status<SuspendedResource>('state', t('standing.state'), ({ state }) => ({ tone: tones[state], text: t(`resource.state.${state}`) })),
          col.text<SuspendedResource>('error', t('standing.error'), ({ error }) => error, { width: 300 }),
          col.date<SuspendedResource>('updated_at', t('standing.at'), ({ updated_at }) => updated_at, { sort: true }),
        ]}
        empty={{ title: t('standing.resourcesNone') }}
      />
      <h2 className="zs-heading">{t('standing.notices')}</h2>
      <NoticeTable bpId={organisation.id} />
    </Drawer>
  )
}

/** What an organisation was told about its money, and where that went. Needs the messages of `arrears`. */
export function NoticeTable({ bpId }: { readonly bpId?: string }) {
  const { t } = useTranslation('arrears')
  return (
    <ResourceTable
      call={notices.list}
      name="notices"
      input={{ query: { bp_id: bpId } }}
      columns={[
        col.date<Notice>('at', t('notice.at'), ({ at }) => at, { sort: true }),
        col.text<Notice>('text', t('notice.text'), ({ text }) => text, { width: 420 }),
        col.text<Notice>(
          'to',
          t('notice.to'),
          ({ deliveries }) => deliveries.map(({ address, status }) => `${address} ${t(`notice.status.${status}`)}`).join('、'),
          { width: 260 },
        ),
      ]}
      empty={{ title: t('standing.noticesNone') }}
    />
  )
}
