import type { PrepaidKind } from '@zhisuan/contract/bill/order'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { useCall } from '../../../api/hooks.ts'
import { rentals } from '@zhisuan/contract/market/rental'
import { eipItems, rentalItems, vmItems, volumeItems, type QuoteItem } from '../../../kit/price/items.ts'

/** What a resource is paid for, as it is now; nothing while it is not known. */
export function useResourceItems(type: string, id: string | undefined): readonly QuoteItem[] {
  const asked = (of: PrepaidKind) => ({ enabled: id !== undefined && type === of, silent: true })
  const input = { params: { id: id ?? '' } }
  const vm = useCall(vms.get, input, asked('nextstack.vm'))
  const volume = useCall(volumes.get, input, asked('nextstack.volume'))
  const eip = useCall(eips.get, input, asked('nextstack.eip'))
  const rental = useCall(rentals.get, input, asked('market.rental'))
  if (id === undefined) return []
  if (type === 'nextstack.vm') return vm.data === undefined ? [] : vmItems(vm.data)
  if (type === 'nextstack.volume') return volume.data === undefined ? [] : volumeItems(volume.data)
  if (type === 'market.rental') return rental.data === undefined ? [] : rentalItems(rental.data.offer.id, rental.data.count, rental.data.disk_bytes)
  return eip.data === undefined ? [] : eipItems(eip.data)
}
