import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import Tag from 'antd/es/tag'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { copyText } from '../../../kit/copy.ts'
import { nothing } from '../../../kit/format.ts'
import { addressKept, usableAddresses } from './vmAddresses.ts'
import '../nextstack.css'
import '../../../kit/addresses.css'

/** An address and the button that copies it. */
export function Address({ address }: { readonly address: string }) {
  const { t } = useTranslation('nextstack')
  return (
    <span className="ns-address">
      <span className="zs-code zs-cut" title={address}>
        {address}
      </span>
      <Button type="text" size="small" icon={<CopyOutlined />} aria-label={t('copyAddress', { address })} onClick={() => void copyText(address)} />
    </span>
  )
}

/** Instead of addresses: which one will be its own again. */
export function NoAddress({ vm }: { readonly vm: Pick<Vm, 'addresses' | 'reserved_address'> }) {
  const { t } = useTranslation('nextstack')
  const kept = addressKept(vm)
  if (kept === null) return nothing
  return (
    <span className="zs-addresses" title={t('reservedAddressNote')}>
      <span className="zs-code zs-soft zs-cut">{kept}</span>
      <Tag>{t('reservedAddress')}</Tag>
    </span>
  )
}

/** The first address, the others behind a number: a row keeps its height. */
export function VmAddresses({ vm }: { readonly vm: Pick<Vm, 'addresses' | 'reserved_address'> }) {
  const { t } = useTranslation('nextstack')
  const [first, ...rest] = usableAddresses(vm)
  if (first === undefined) return <NoAddress vm={vm} />
  return (
    <span className="zs-addresses">
      <Address address={first.address} />
      {rest.length > 0 && (
        <Popover
          trigger="click"
          content={rest.map(({ address }) => (
            <div key={address}>
              <Address address={address} />
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
