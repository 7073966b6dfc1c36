import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import type { ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useTranslation } from '../../../i18n.ts'
import { copyText } from '../../../kit/copy.ts'
import { nothing } from '../../../kit/format.ts'
import '../../../kit/addresses.css'

type Addresses = ComputeInstance['addresses']

/** What people connect to stands first: floating ones, then IPv4. */
export const sortedAddresses = (addresses: Addresses): Addresses =>
  addresses.toSorted((a, b) => Number(b.type === 'floating') - Number(a.type === 'floating') || a.version - b.version)

/** An address, where it is, and the button that copies it. */
export function Address({ one }: { readonly one: Addresses[number] }) {
  const { t } = useTranslation('computeInstance')
  return (
    <span className="zs-state">
      <span className="zs-code zs-cut" title={`${one.address} (${one.network})`}>
        {one.address}
      </span>
      <Button
        type="text"
        size="small"
        icon={<CopyOutlined />}
        aria-label={t('copyAddress', { address: one.address })}
        onClick={() => void copyText(one.address)}
      />
      {one.type === 'floating' && <span className="zs-soft">{t('floating')}</span>}
    </span>
  )
}

/** The first address, the others behind a number: a row keeps its height. */
export function InstanceAddresses({ addresses }: { readonly addresses: Addresses }) {
  const { t } = useTranslation('computeInstance')
  const [first, ...rest] = sortedAddresses(addresses)
  if (first === undefined) return nothing
  return (
    <span className="zs-addresses">
      <Address one={first} />
      {rest.length > 0 && (
        <Popover
          trigger="click"
          content={rest.map((one) => (
            <div key={one.address}>
              <Address one={one} /> <span className="zs-soft">{one.network}</span>
            </div>
          ))}
        >
          <Button type="link" size="small">
            {t('moreAddresses', { count: rest.length })}
          </Button>
        </Popover>
      )}
    </span>
  )
}
