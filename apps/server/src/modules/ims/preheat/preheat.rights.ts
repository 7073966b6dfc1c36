import { actsOn, type Also } from '@zhisuan/contract/define'
import { preheats } from '@zhisuan/contract/ims/preheat'
import { pulls } from '@zhisuan/contract/ims/rights'
import type { PreheatRow } from './preheat.store.ts'

/** The call that makes such an order. */
export const orderCall = ({ registry_id }: Pick<PreheatRow, 'registry_id'>) => (registry_id === null ? preheats.createThird : preheats.create)

/**
 * What has to be allowed to whoever has these images brought to these nodes: to order it, and to pull each of them on each.
 * Asked when it is ordered, when it is tried again, and when a node begins: that may be much later.
 */
export function asksOfPreheat(
  preheat: Pick<PreheatRow, 'registry_id' | 'third_registry_id'>,
  images: readonly string[],
  nodeIds: readonly string[],
): readonly Also[] {
  const { registry_id, third_registry_id } = preheat
  return [
    { action: orderCall(preheat).id, on: { kind: 'ims.preheat', id: registry_id ?? third_registry_id ?? undefined } },
    ...(third_registry_id === null ? [] : [{ action: 'ims.thirdRegistry.get', on: { kind: 'ims.thirdRegistry', id: third_registry_id } }]),
    ...nodeIds.flatMap((id) => actsOn('ecrm.edge.pullImage', { kind: 'ecrm.edge', id })),
    ...pulls(...images),
  ]
}
