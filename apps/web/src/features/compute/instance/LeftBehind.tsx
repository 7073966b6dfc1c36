import Checkbox from 'antd/es/checkbox'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useEffect, useState } from 'react'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { firstNames } from '../../../kit/firstNames.ts'
import * as format from '../../../kit/format.ts'
import '../../../kit/form.css'

/** What goes with an instance that is deleted for good. */
export interface Released {
  readonly release_floating_ips: boolean
  readonly release_volumes: boolean
}
export const nothingReleased: Released = { release_floating_ips: false, release_volumes: false }

/**
 * Names what stays of an instance that goes, and goes on being paid for; and has it go too where somebody wants that.
 * @param onChange null where nothing can go with it: in the recycle bin it keeps what is its own
 */
export default function LeftBehind({
  of,
  cloudId,
  onChange,
}: {
  readonly of: Pick<ComputeInstance, 'id' | 'addresses'>
  readonly cloudId: string
  readonly onChange: ((released: Released) => void) | null
}) {
  const { t } = useTranslation('computeInstance')
  const [released, setReleased] = useState(nothingReleased)
  useEffect(() => onChange?.(nothingReleased), [onChange])
  const change = (wish: Partial<Released>): void => {
    const next = { ...released, ...wish }
    setReleased(next)
    onChange?.(next)
  }
  const one = useCall(computeInstances.get, { params: { cloud_id: cloudId, id: of.id } }, { silent: true })
  const more = (names: readonly string[]): string => firstNames(names, t('confirm.more', { count: names.length }))
  const staying = [
    {
      wish: 'release_floating_ips',
      text: 'left.floatingIps',
      names: of.addresses.filter(({ type }) => type === 'floating').map(({ address }) => address),
    },
    {
      wish: 'release_volumes',
      text: 'left.volumes',
      names: (one.data?.volumes ?? [])
        .filter(({ delete_on_termination }) => !delete_on_termination)
        .map(({ volume_id, name, size_bytes }) => (size_bytes === null ? name || volume_id : `${name || volume_id}（${format.bytes(size_bytes)}）`)),
    },
  ] as const
  const named = staying.filter(({ names }) => names.length > 0)
  if (one.error !== null) return <p>{t('left.unknown')}</p>
  if (named.length === 0) return null
  return onChange === null ? (
    <ul>
      {named.map(({ wish, text, names }) => (
        <li key={wish}>{t(`${text}Stay`, { names: more(names) })}</li>
      ))}
    </ul>
  ) : (
    <>
      <p>{t('left.note')}</p>
      {named.map(({ wish, text, names }) => (
        <div key={wish}>
          <Checkbox checked={released[wish]} onChange={({ target }) => change({ [wish]: target.checked })}>
            {t(text, { names: more(names) })}
          </Checkbox>
        </div>
      ))}
    </>
  )
}
