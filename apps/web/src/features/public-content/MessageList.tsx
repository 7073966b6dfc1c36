import { useTranslation } from '../../i18n.ts'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { col, type Column } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable, type RowOf } from '../../kit/ResourceTable.tsx'
import './content.css'

/** What visitors left, for administrators. */
export default function MessageList() {
  const { t } = useTranslation('content')
  const columns: Column<RowOf<typeof consultations.list>>[] = [
    col.text('name', t('board.name'), (message) => message.name, { width: 140 }),
    col.code('phone', t('board.phone'), (message) => message.phone, { width: 140 }),
    col.custom('content', t('board.content'), (message) => <div className="content-board-content">{message.content}</div>),
    col.date('created_at', t('board.leftAt'), (message) => message.created_at, { sort: true }),
  ]
  return (
    <ResourceTable
      call={consultations.list}
      columns={columns}
      filters={[filter.keyword(t('board.search'))]}
      empty={{ title: t('board.empty'), note: t('board.emptyText') }}
    />
  )
}
