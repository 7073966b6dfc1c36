import { storagePools } from '@zhisuan/contract/nextstack/volume'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { tellsSnapshotSizes } from './snapshotSizes.ts'

/** What a snapshot of an instance will cost, or that it costs nothing. */
export function SnapshotPrice({ cloudId, bytes, bpId = null }: { readonly cloudId: string; readonly bytes: number | null; readonly bpId?: string | null }) {
  const { t } = useTranslation('snapshot')
  const { data } = useCall(storagePools.list, { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } }, { silent: true })
  if (tellsSnapshotSizes(data?.items) === false) return <p className="zs-soft">{t('free')}</p>
  return <StoragePrice meter="snapshot.size" bytes={bytes} bpId={bpId} />
}
