import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { storagePools } from '@zhisuan/contract/nextstack/volume'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { isDiskUnlimited } from './diskUnlimited.ts'

/** Says where the size of a system disk is what is paid, and no limit. */
export function DiskUnlimited({ cloudId, type }: { readonly cloudId: string | undefined; readonly type: Vm['type'] | undefined }) {
  const { t } = useTranslation('nextstack')
  const { data } = useCall(
    storagePools.list,
    { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } },
    { enabled: cloudId !== undefined && type === 'container', silent: true },
  )
  return isDiskUnlimited(type, data?.items ?? []) ? <span> {t('add.diskUnlimited')}</span> : null
}
