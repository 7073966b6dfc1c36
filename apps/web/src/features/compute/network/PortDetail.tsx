import { constants } from '@zhisuan/contract/constants'
import { computePorts } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import './network.css'
import { networkTones } from './networkText.ts'
import { Device } from './PortList.tsx'
import { usePortActions } from './usePortActions.tsx'

/** One port: where it is, what it is plugged into, and what guards it. */
export default function PortDetail() {
  const { t } = useTranslation('computeNetwork')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(computePorts.get, { params: { cloud_id: cloudId ?? '', id } }, { enabled: cloudId !== null, refreshMs: constants.listRefreshMs })
  const { actionsOf } = usePortActions(cloudId ?? '', () => void navigate(paths.compute.port.list()))
  const lines = (texts: readonly string[]) =>
    texts.length === 0 ? (
      format.nothing
    ) : (
      <ul className="cnet-lines zs-code">
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    )
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.port.list() }}
          title={(port) => (port.name === '' ? (port.addresses[0]?.address ?? port.mac) : port.name)}
          status={({ status }) => <StatusTag tone={networkTones[status]}>{t(`status.${status}`)}</StatusTag>}
          actions={actionsOf}
          facts={(port) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{port.id}</span> },
            {
              key: 'network',
              label: t('column.network'),
              value: <Link to={paths.compute.network.detail(port.network_id)}>{port.names[port.network_id] ?? port.network_id}</Link>,
            },
            { key: 'addresses', label: t('column.addresses'), value: lines(port.addresses.map(({ address }) => address)) },
            { key: 'mac', label: t('column.mac'), value: <span className="zs-code">{port.mac}</span> },
            {
              key: 'device',
              label: t('column.device'),
              value: (
                <div>
                  <Device port={port} name={port.names[port.device_id ?? ''] ?? port.device_id ?? ''} />
                </div>
              ),
            },
            { key: 'enabled', label: t('column.enabled'), value: t(port.enabled ? 'on' : 'off') },
            { key: 'portSecurity', label: t('column.portSecurity'), value: t(port.port_security ? 'on' : 'off') },
            {
              key: 'groups',
              label: t('column.groups'),
              value: port.security_group_ids.length === 0 ? format.nothing : port.security_group_ids.map((group) => port.names[group] ?? group).join('、'),
            },
            { key: 'allowed', label: t('field.allowed'), value: lines(port.allowed_addresses) },
            ...(platform && port.keystone_project_id !== null
              ? [{ key: 'owner', label: t('column.owner'), value: port.names[port.keystone_project_id] ?? port.keystone_project_id }]
              : []),
            { key: 'description', label: t('column.description'), value: port.description === '' ? format.nothing : port.description },
          ]}
        />
      )}
    </ComputePage>
  )
}
