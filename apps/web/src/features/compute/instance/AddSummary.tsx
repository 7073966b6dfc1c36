import type { ComputeFlavor } from '@zhisuan/contract/compute/flavor'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { computeFlavorItems, computeVolumeItems } from '../../../kit/price/items.ts'
import { LeastBalance } from '../../../kit/price/LeastBalance.tsx'
import { Price } from '../../../kit/price/Price.tsx'
import * as format from '../../../kit/format.ts'
import { sizeText } from './instanceColumns.tsx'
import { disksOf, hasOwnDisk, type InstanceTyped } from './instanceForm.ts'
import '../../../kit/addPage.css'

/** What was chosen so far, and what several of them come to. */
export function AddSummary({
  typed,
  cloud,
  source,
  flavor,
  networks,
  least,
}: {
  readonly typed: InstanceTyped
  /** Of the root disk. */
  readonly least: number
  readonly cloud: string | undefined
  /** What people call what was chosen. */
  readonly source: string | undefined
  readonly flavor: ComputeFlavor | undefined
  readonly networks: readonly string[]
}) {
  const { t } = useTranslation('computeInstance')
  const count = typed.count ?? 1
  const type = typed.source?.type ?? 'image'
  const disks = typed.disks ?? []
  const volumes = disks.reduce((sum, disk) => sum + (disk?.size_bytes ?? 0), 0)
  const root = (type === 'image' && typed.source?.on_volume === true) || type === 'snapshot' ? (typed.source?.disk?.size_bytes ?? 0) : 0
  return (
    <dl className="zs-summary">
      <Chosen label={t('add.cloud')}>{cloud}</Chosen>
      <Chosen label={t(`add.from.${type}`)}>{source}</Chosen>
      <Chosen label={t('field.flavor')}>{flavor && `${flavor.name}（${sizeText(t, flavor)}）`}</Chosen>
      {root > 0 && <Chosen label={t('add.rootDisk')}>{format.bytes(root)}</Chosen>}
      {disks.length > 0 && <Chosen label={t('add.disks')}>{t('add.disksOf', { count: disks.length, size: format.bytes(volumes) })}</Chosen>}
      <Chosen label={t('add.networks')}>{networks.join('、')}</Chosen>
      <Chosen label={t('field.name')}>{typed.name?.trim()}</Chosen>
      <Chosen label={t('add.count')}>{format.number(count)}</Chosen>
      {flavor !== undefined && count > 1 && (
        <Chosen label={t('add.total')}>
          {t('add.totalOf', {
            vcpus: format.number(flavor.vcpus * count),
            memory: format.bytes(flavor.memory_bytes * count),
            disk: format.bytes((root === 0 && type === 'image' ? flavor.disk_bytes : root) * count + volumes * count),
          })}
        </Chosen>
      )}
      <Chosen label={t('add.price')}>
        {flavor && (
          <>
            <Price items={[...computeFlavorItems(flavor, hasOwnDisk(typed)), ...computeVolumeItems(disksOf(typed, least))]} period="hour" times={count} />
            <LeastBalance />
          </>
        )}
      </Chosen>
    </dl>
  )
}

function Chosen({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const { t } = useTranslation('computeInstance')
  const set = children !== undefined && children !== ''
  return (
    <div>
      <dt>{label}</dt>
      <dd>{set ? children : <span className="zs-soft">{t('add.unset')}</span>}</dd>
    </div>
  )
}
