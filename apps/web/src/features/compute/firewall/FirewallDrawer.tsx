import Descriptions from 'antd/es/descriptions'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import type { ItemOf } from '../../../api/hooks.ts'
import { ActionMenu, type Action } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import type { Fact } from '../../../kit/DetailPage.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../../kit/focus.ts'
import { useCloudLines, type CloudListCall } from '../CloudTable.tsx'
import { called } from './firewallText.ts'
import './firewall.css'

/** Whatever these lists hold has an id and a name, which the type of any list does not say. */
const named = (row: unknown) => row as { readonly id: string; readonly name: string }

/** One of a list beside it: what it is, what can be done, and what belongs to it. Follows the list, which reads itself again. */
export function FirewallDrawer<C extends CloudListCall>({
  call,
  cloudId,
  id,
  actionsOf,
  factsOf,
  children,
  onClose,
}: {
  readonly call: C
  readonly cloudId: string
  readonly id: string
  readonly actionsOf: (row: ItemOf<C>) => readonly Action[]
  readonly factsOf: (row: ItemOf<C>, name: (id: string) => string) => readonly Fact[]
  readonly children?: (row: ItemOf<C>) => ReactNode
  readonly onClose: () => void
}) {
  const { t } = useTranslation(['computeFirewall', 'kit'])
  useReturnFocus()
  const { data, error, refetch } = useCloudLines(call, cloudId)
  const row = data?.items.find((one) => named(one).id === id)
  const name = (of: string): string => data?.names[of] ?? of
  const title = row === undefined ? id : called(named(row))
  return (
    <Drawer open size={760} title={title} onClose={onClose}>
      {row !== undefined ? (
        <>
          <div className="cf-bar">
            <ActionMenu actions={actionsOf(row)} shown={4} look="default" label={t('kit:action.of', { name: title })} />
          </div>
          <Descriptions size="small" column={{ xs: 1, sm: 2 }} items={factsOf(row, name).map(({ key, label, value }) => ({ key, label, children: value }))} />
          {children?.(row)}
        </>
      ) : error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : data?.done === true ? (
        <EmptyState title={t('computeFirewall:gone')} />
      ) : (
        <Skeleton active paragraph={{ rows: 8 }} />
      )}
    </Drawer>
  )
}
