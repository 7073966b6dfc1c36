import { computePorts, networkStatuses, portUses, type ComputePort } from '@zhisuan/contract/compute/network'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage } from '../ComputePage.tsx'
import './network.css'
import { deviceAddress, networkTones } from './networkText.ts'
import { PortCreate } from './PortDialogs.tsx'
import { usePortActions } from './usePortActions.tsx'

/** Ports of the chosen cloud, with what they are plugged into. */
export default function PortList() {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  return <ComputePage>{(cloud) => <Ports cloudId={cloud?.cloud_id ?? null} platform={platform} t={t} />}</ComputePage>
}

function Ports({ cloudId, platform, t }: { readonly cloudId: string | null; readonly platform: boolean; readonly t: TFunction<'computeNetwork'> }) {
  const { actionsOf } = usePortActions(cloudId ?? '')
  return (
    <CloudTable
      call={computePorts.list}
      cloudId={cloudId}
      columns={(name) => portColumns(t, name, platform)}
      filters={[
        filter.oneOf('status', t('column.status'), networkStatuses, (value) => t(`status.${value}`)),
        filter.oneOf('use', t('column.device'), portUses, (value) => t(`use.${value}`)),
        filter.keyword(t('keyword.port')),
      ]}
      textOf={({ name, id, mac, addresses, description }) => `${name} ${id} ${mac} ${description} ${addresses.map(({ address }) => address).join(' ')}`}
      matches={{ status: ({ status }, value) => status === value, use: ({ use }, value) => use === value }}
      sortBy={{ name: ({ name }) => name, status: ({ status }) => status, address: ({ addresses }) => addresses[0]?.address ?? null }}
      sortFirst="name"
      passing={({ status }) => status === 'building'}
      rowActions={actionsOf}
      create={{ call: computePorts.create, label: t('port.create'), dialog: (close) => cloudId !== null && <PortCreate cloudId={cloudId} onClose={close} /> }}
      empty={{ title: t('port.empty'), note: t('port.emptyNote') }}
    />
  )
}

/** What a port is plugged into: of which kind, and its name where it has a page. */
export function Device({ port, name }: { readonly port: ComputePort; readonly name: string }) {
  const { t } = useTranslation('computeNetwork')
  const to = deviceAddress(port.use, port.device_id)
  return (
    <>
      {to === null ? t(`use.${port.use}`) : <Link to={to}>{name}</Link>}
      {to !== null && <div className="zs-name-note">{t(`use.${port.use}`)}</div>}
      {port.use === 'other' && port.device_owner !== null && <div className="zs-name-note">{port.device_owner}</div>}
    </>
  )
}

/** @param owners whether rows of several projects meet here */
export const portColumns = (t: TFunction<'computeNetwork'>, name: (id: string | null) => string, owners: boolean): readonly Column<ComputePort>[] => [
  col.name('name', t('column.name'), (port) => (port.name === '' ? (port.addresses[0]?.address ?? port.mac) : port.name), {
    sort: true,
    to: ({ id }) => paths.compute.port.detail(id),
    note: ({ description }) => description,
  }),
  col.status(
    'status',
    t('column.status'),
    ({ status, enabled }) => ({ tone: networkTones[status], text: t(`status.${status}`), note: enabled ? null : t('disabled') }),
    { sort: true, width: 100 },
  ),
  col.custom(
    'address',
    t('column.addresses'),
    ({ addresses }) =>
      addresses.length === 0 ? (
        format.nothing
      ) : (
        <ul className="cnet-lines zs-code">
          {addresses.map(({ address }) => (
            <li key={address}>{address}</li>
          ))}
        </ul>
      ),
    { sort: true, width: 150 },
  ),
  col.code('mac', t('column.mac'), ({ mac }) => mac, { width: 160 }),
  col.text('network', t('column.network'), ({ network_id }) => name(network_id), {
    to: ({ network_id }) => paths.compute.network.detail(network_id),
    width: 150,
  }),
  col.custom('device', t('column.device'), (port) => <Device port={port} name={name(port.device_id)} />, { width: 160 }),
  col.tags('groups', t('column.groups'), ({ security_group_ids }) => security_group_ids.map(name)),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: owners, width: 150 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
