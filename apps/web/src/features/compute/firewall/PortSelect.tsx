import Select from 'antd/es/select'
import { firewallGroups } from '@zhisuan/contract/compute/firewall'
import { computePorts, type ComputePort } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { useCloudChoices } from '../CloudTable.tsx'
import { Trouble } from '../Trouble.tsx'
import { called } from './firewallText.ts'
import type { Controlled } from '../../../kit/fields.tsx'

/** Whether a firewall may filter it: a router's interface, or an instance's port. */
const filterable = ({ use, device_owner }: ComputePort): boolean => use === 'instance' || device_owner?.startsWith('network:router_interface') === true

/**
 * Chooses ports by their network, address and what they are plugged into; those of other firewalls are there to be
 * seen. A control of a form.
 * @param project only those of this Keystone project; left out: all that the asker has
 */
export function PortSelect({ cloudId, project, id, value = [], onChange }: Controlled<string[], { cloudId: string; project?: string | null }>) {
  const { t } = useTranslation(['computeFirewall', 'computeNetwork'])
  const ports = useCloudChoices(computePorts.list, cloudId)
  const groups = useCloudChoices(firewallGroups.list, cloudId)
  const names = ports.data?.names ?? {}
  const holderOf = (port: string) => groups.data?.items.find(({ port_ids }) => port_ids.includes(port))
  const options = (ports.data?.items ?? [])
    .filter((port) => filterable(port) && (project === undefined || port.keystone_project_id === project))
    .map((port) => {
      const holder = holderOf(port.id)
      const user = `${t(`computeNetwork:use.${port.use}`)} ${names[port.device_id ?? ''] ?? ''}`.trim()
      const label = [
        names[port.network_id] ?? port.network_id,
        port.addresses.map(({ address }) => address).join('、'),
        user,
        ...(holder === undefined ? [] : [t('computeFirewall:field.portTaken', { name: called(holder) })]),
      ]
        .filter((part) => part !== '')
        .join(' · ')
      return { value: port.id, label, disabled: holder !== undefined }
    })
    .toSorted((a, b) => Number(a.disabled) - Number(b.disabled) || a.label.localeCompare(b.label, 'zh'))
  return (
    <>
      <Trouble of={[ports, groups]} />
      <Select<string[]>
        {...(id !== undefined && { id })}
        mode="multiple"
        aria-label={t('computeFirewall:field.ports')}
        placeholder={t('computeFirewall:field.portsAdd')}
        style={{ width: '100%' }}
        showSearch={{ optionFilterProp: 'label' }}
        options={options}
        loading={ports.isFetching && ports.data === undefined}
        value={value}
        onChange={(next) => onChange?.(next)}
      />
    </>
  )
}
