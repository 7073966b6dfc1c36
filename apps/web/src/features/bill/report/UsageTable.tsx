import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import type { QueryInput } from '@zhisuan/contract/define'
import { consumes, type UsageLineShape } from '@zhisuan/contract/bill/consume'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../../kit/focus.ts'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { LineFormula, formulaOf } from './LineFormula.tsx'
import { billMonthOf } from './months.ts'
import { useNames } from './useNames.ts'
import './report.css'
import '../../../kit/table.css'

const linesOfPage = 50

/**
 * Usage lines, the newest first, each with how its amount was made. There may be millions: they
 * are read on from the last one seen, whose place stands in the address, and are not counted.
 * @param resource whether the lines are of one resource, which the page names itself
 */
export function UsageTable({ query, resource = false }: { readonly query: QueryInput<typeof consumes.list>; readonly resource?: boolean }) {
  const { t } = useTranslation(['report', 'kit'])
  const { meterName, unitName } = useNames()
  const platform = useIsPlatform()
  const [search, setSearch] = useSearchParams()
  const after = search.get('after') ?? undefined
  const { data, error, isFetching, isPlaceholderData, refetch } = useCall(
    consumes.list,
    { query: { ...query, limit: linesOfPage, ...(after !== undefined && { after }) } },
    { silent: true },
  )
  const go = (place: string | null): void =>
    setSearch((now) => {
      const next = new URLSearchParams(now)
      if (place === null) next.delete('after')
      else next.set('after', place)
      return next
    })
  const columns: readonly Column<UsageLineShape>[] = [
    col.date<UsageLineShape>('from', t('column.from'), ({ from }) => from),
    col.name<UsageLineShape>('resource', t('column.resource'), (line) => line.resource.name, {
      when: !resource,
      to: (line) => paths.billing.monthDetail(line.resource.id, billMonthOf(Date.parse(line.from))),
      note: (line) => kindText(line.resource.type),
    }),
    col.text<UsageLineShape>('organisation', t('column.organisation'), ({ organisation }) => organisation.name, { when: platform && !resource, width: 130 }),
    col.text<UsageLineShape>('sku', t('column.sku'), ({ sku }) => sku.name, { width: 150, note: ({ product }) => product.name }),
    col.text<UsageLineShape>('project', t('column.project'), ({ project }) => project?.name ?? t('shares.noProject'), { when: !resource, width: 130 }),
    col.custom<UsageLineShape>('formula', t('column.formula'), (line) => <span className="br-formula">{formulaOf(line, unitName(line.meter))}</span>, {
      width: 260,
    }),
    col.charge<UsageLineShape>('amount', t('column.amount'), ({ amount }) => amount, { width: 130 }),
    {
      key: '@actions',
      title: t('kit:table.actions'),
      width: 100,
      render: (_, line) => (
        <ActionMenu
          actions={[
            {
              key: 'how',
              call: null,
              label: t('lines.how'),
              dialog: (close) => <How line={line} meter={meterName(line.meter)} unit={unitName(line.meter)} onClose={close} />,
            },
          ]}
        />
      ),
    },
  ]
  const items = data?.items ?? []
  return (
    <section className="zs-table" aria-busy={isFetching}>
      <Table<UsageLineShape>
        size="small"
        rowKey="id"
        columns={columns.map((column) => ({ ...column, onCell: () => ({ 'data-label': column.title }) as object }))}
        dataSource={[...items]}
        pagination={false}
        locale={{
          emptyText:
            data === undefined && error === null ? (
              <Skeleton active title={false} paragraph={{ rows: 6, width: '100%' }} />
            ) : error === null ? (
              <EmptyState title={t('lines.empty')}>{t('lines.emptyNote')}</EmptyState>
            ) : (
              <ErrorPanel error={error} onRetry={() => void refetch()} />
            ),
        }}
      />
      {(items.length > 0 || after !== undefined) && (
        <div className="br-foot">
          <span className="zs-soft">
            {t('lines.shown', { count: items.length })}
            {data !== undefined &&
              !resource &&
              ` · ${data.amount === null ? t('lines.amountUnknown') : t('lines.amount', { amount: format.exactMoney(data.amount) })}`}
          </span>
          <Button disabled={after === undefined} onClick={() => go(null)}>
            {t('lines.newest')}
          </Button>
          <Button disabled={data?.next === null || data === undefined} loading={isPlaceholderData} onClick={() => go(data?.next ?? null)}>
            {t('lines.older')}
          </Button>
        </div>
      )}
    </section>
  )
}

function How({ line, meter, unit, onClose }: { readonly line: UsageLineShape; readonly meter: string; readonly unit: string; readonly onClose: () => void }) {
  const { t } = useTranslation('report')
  useReturnFocus()
  return (
    <Drawer open size={520} title={t('formula.title', { amount: format.exactMoney(line.amount) })} onClose={onClose}>
      <LineFormula line={line} meter={meter} unit={unit} />
    </Drawer>
  )
}
