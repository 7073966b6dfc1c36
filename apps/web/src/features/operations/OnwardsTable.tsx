import Button from 'antd/es/button'
import type { QueryInput } from '@zhisuan/contract/define'
import { useTranslation } from '../../i18n.ts'
import { RowsTable, useTableState, type TableParts } from '../../kit/RowsTable.tsx'
import { useAllPages, type OnwardsCall } from './useAllPages.ts'
import './operations.css'

/** A list that is read on by key, as long as somebody wants more: nobody counts it. */
export function OnwardsTable<Item extends { readonly id: string }, C extends OnwardsCall<Item>>({
  call,
  query,
  ...parts
}: TableParts<Item> & { readonly call: C; readonly query: Readonly<Record<string, string>> }) {
  const { t } = useTranslation('operations')
  const table = useTableState(parts)
  // Assembled from the address: the server judges what is in it.
  const pages = useAllPages<Item, C>(call, { page_size: '50', ...query, ...table.state.filters } as unknown as Partial<QueryInput<C>>)
  return (
    <>
      <RowsTable<Item>
        {...parts}
        list={call.id}
        table={table}
        shown={{
          rows: pages.items,
          total: 0,
          first: pages.data === undefined && pages.error === null,
          error: pages.error,
          reading: pages.isFetching,
          staleSince: null,
          again: () => void pages.refetch(),
        }}
      />
      {pages.items.length > 0 && (
        <div className="om-more">
          {pages.hasNextPage ? (
            <Button loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
              {t('older')}
            </Button>
          ) : (
            <span className="zs-soft">{t('oldest')}</span>
          )}
        </div>
      )}
    </>
  )
}
