import type { StoragePool } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag, type StatusTone } from '../../../kit/StatusTag.tsx'
import type messages from '../../../locales/zh/storage.ts'

type Known = keyof (typeof messages)['pool']['status']

/** States as engines call them; others are shown as they are. */
const tones: Readonly<Record<Known, StatusTone>> = { Created: 'good', Pending: 'busy', Errored: 'bad', Unavailable: 'bad', Unknown: 'warning' }
const isKnown = (status: string): status is Known => Object.hasOwn(tones, status)

export function PoolState({ pool: { status } }: { readonly pool: Pick<StoragePool, 'status'> }) {
  const { t } = useTranslation('storage')
  return isKnown(status) ? <StatusTag tone={tones[status]}>{t(`pool.status.${status}`)}</StatusTag> : <StatusTag tone="warning">{status}</StatusTag>
}
