import Checkbox from 'antd/es/checkbox'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { useEffect, useState } from 'react'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { firstNames } from '../../../kit/firstNames.ts'
import * as format from '../../../kit/format.ts'
import { PrepaidLost } from '../../../kit/price/PrepaidLost.tsx'
import '../../../kit/form.css'

/** What goes with instances that are deleted. */
export interface Released {
  readonly release_eip: boolean
  readonly release_volumes: boolean
}
export const nothingReleased: Released = { release_eip: false, release_volumes: false }

/** Names what stays of instances that are deleted, and goes on being paid for, and has it go too where somebody wants that. */
export default function LeftBehind({
  of,
  onChange,
}: {
  readonly of: readonly Pick<Vm, 'id' | 'cloud_id' | 'eip'>[]
  readonly onChange: (released: Released) => void
}) {
  const { t } = useTranslation('nextstack')
  const [released, setReleased] = useState(nothingReleased)
  // Not on the way out: many are deleted one after the other, when this is closed already.
  useEffect(() => onChange(nothingReleased), [onChange])
  const change = (wish: Partial<Released>): void => {
    const next = { ...released, ...wish }
    setReleased(next)
    onChange(next)
  }
  const ids = new Set(of.map(({ id }) => id))
  const [first] = of
  const query = { cloud_id: first?.cloud_id, page_size: 1000, ...(of.length === 1 && { vm_id: first?.id }) }
  const disks = (useCall(volumes.list, { query }, { silent: true }).data?.items ?? []).filter(({ attached_to }) => ids.has(attached_to?.vm.id ?? ''))
  const kept = (useCall(snapshots.list, { query }, { silent: true }).data?.items ?? []).filter(({ vm }) => ids.has(vm.id))
  const eips = of.flatMap(({ eip }) => (eip === null ? [] : [eip]))
  const named = (names: readonly string[]): string => firstNames(names, t('left.more', { count: names.length }))
  return (
    <>
      {kept.length > 0 && <p>{t('left.snapshots', { count: kept.length })}</p>}
      {(eips.length > 0 || disks.length > 0) && <p>{t('left.note')}</p>}
      {eips.length > 0 && (
        <div>
          <Checkbox checked={released.release_eip} onChange={({ target }) => change({ release_eip: target.checked })}>
            {t('left.eips', { names: named(eips.map(({ address }) => address)) })}
          </Checkbox>
          {released.release_eip && <PrepaidLost type="nextstack.eip" ids={eips.map(({ id }) => id)} />}
        </div>
      )}
      {disks.length > 0 && (
        <div>
          <Checkbox checked={released.release_volumes} onChange={({ target }) => change({ release_volumes: target.checked })}>
            {t('left.volumes', { names: named(disks.map(({ name, size_bytes }) => `${name}（${format.bytes(size_bytes)}）`)) })}
          </Checkbox>
          {released.release_volumes && <PrepaidLost type="nextstack.volume" ids={disks.map(({ id }) => id)} />}
        </div>
      )}
    </>
  )
}
