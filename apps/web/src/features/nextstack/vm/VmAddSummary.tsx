import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Price } from '../../../kit/price/Price.tsx'
import type { QuoteItem } from '../../../kit/price/items.ts'
import type { Billing } from '../../../kit/price/BillingMode.tsx'
import * as format from '../../../kit/format.ts'
import type { Image } from './ImagePicker.tsx'
import { accessOf, type VmTyped } from './vmForm.ts'
import '../../../kit/addPage.css'

/** What was chosen so far, and what several of them come to. */
export function VmAddSummary({
  typed,
  network,
  cloud,
  image,
  flavor,
  items,
  billing,
}: {
  readonly typed: VmTyped
  /** What people call the chosen one. */
  readonly network: string | undefined
  readonly cloud: CloudBasic | undefined
  readonly image: Image | undefined
  readonly flavor: Flavor | undefined
  /** What one of them uses. */
  readonly items: readonly QuoteItem[]
  readonly billing: Billing
}) {
  const { t } = useTranslation('nextstack')
  const count = typed.count ?? 1
  const disk = typed.disk_bytes ?? flavor?.disk_bytes ?? 0
  const access = accessOf(typed, image?.cloud_init ?? true)
  const ways = [
    ...(access.password === undefined ? [] : [t('add.withPassword')]),
    ...(access.ssh_public_key === undefined && access.key_pair_ids === undefined ? [] : [t('add.withKey')]),
    ...(access.user_data === undefined ? [] : [t('add.withUserData')]),
  ]
  return (
    <dl className="zs-summary">
      <Chosen label={t('field.cloud')}>{cloud?.name}</Chosen>
      <Chosen label={t('field.type')}>{typed.type && t(`type.${typed.type}`)}</Chosen>
      <Chosen label={t('field.image')}>{image?.name}</Chosen>
      <Chosen label={t('field.flavor')}>
        {flavor && `${flavor.name}（${t('cores', { count: flavor.cpu_cores })} / ${format.bytes(flavor.memory_bytes)}）`}
      </Chosen>
      <Chosen label={t('field.disk')}>{flavor && format.bytes(disk)}</Chosen>
      <Chosen label={t('field.network')}>{network}</Chosen>
      <Chosen label={t('add.step.access')}>{ways.join('、')}</Chosen>
      <Chosen label={t('field.name')}>{typed.name?.trim()}</Chosen>
      <Chosen label={t('field.count')}>{String(count)}</Chosen>
      {flavor !== undefined && count > 1 && (
        <Chosen label={t('add.total')}>
          {t('size', { cores: flavor.cpu_cores * count, memory: format.bytes(flavor.memory_bytes * count), disk: format.bytes(disk * count) })}
        </Chosen>
      )}
      <Chosen label={t('add.price')}>{flavor && <Price items={items} period={billing.mode} count={billing.count} times={count} />}</Chosen>
    </dl>
  )
}

function Chosen({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const { t } = useTranslation('nextstack')
  const set = children !== undefined && children !== ''
  return (
    <div>
      <dt>{label}</dt>
      <dd>{set ? children : <span className="zs-soft">{t('add.unset')}</span>}</dd>
    </div>
  )
}
