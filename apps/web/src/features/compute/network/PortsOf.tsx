import { computePorts, type ComputePort } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import type { EmptyText } from '../../../kit/RowsTable.tsx'
import { CloudTable } from '../CloudTable.tsx'
import { portColumns } from './PortList.tsx'
import { usePortActions } from './usePortActions.tsx'

/**
 * The ports that belong to something, on its page.
 * @param only which those are
 * @param changes by their keys, what can be done to them from there; everything where it is left out
 */
export function PortsOf({
  cloudId,
  only,
  changes,
  empty,
}: {
  readonly cloudId: string | null
  readonly only: (port: ComputePort) => boolean
  readonly changes?: readonly string[]
  readonly empty: EmptyText
}) {
  const { t } = useTranslation('computeNetwork')
  const { actionsOf } = usePortActions(cloudId ?? '')
  return (
    <CloudTable
      name="ports"
      call={computePorts.list}
      cloudId={cloudId}
      columns={(name) => portColumns(t, name, false)}
      only={only}
      textOf={({ name, mac, id }) => `${name} ${mac} ${id}`}
      sortBy={{ name: ({ name }) => name }}
      rowActions={(port) => actionsOf(port).filter(({ key }) => changes === undefined || changes.includes(key))}
      empty={empty}
    />
  )
}
