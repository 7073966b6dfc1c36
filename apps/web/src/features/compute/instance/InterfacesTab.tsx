import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Table from 'antd/es/table'
import Tooltip from 'antd/es/tooltip'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, type ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { computeNetworks, computePorts } from '@zhisuan/contract/compute/network'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useChange } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { RadioField, TextField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { StatusTag, type StatusTone } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { InstanceFloatingBind, InstanceFloatingUnbind } from '../floating-ip/InstanceFloatingIp.tsx'
import { fixedOf } from '../floating-ip/floatingIpRules.ts'
import { CloudSelect } from './CloudSelect.tsx'
import { networkChoice, isJoinable } from './choices.ts'
import { invalidatedByInstance, whyNotInstance } from './instanceRules.ts'
import '../../../kit/actions.css'

type Interface = ComputeInstanceDetail['interfaces'][number]
interface Of {
  readonly instance: ComputeInstanceDetail
  readonly cloud: CloudBasic
}

const tones: Readonly<Record<string, StatusTone>> = { ACTIVE: 'good', DOWN: 'warning', BUILD: 'busy', ERROR: 'bad' }
/** Neutron's words; another one is told as it is. */
const statusText = (t: TFunction<'computeInstance'>, status: string): string => t(`interfaces.statusOf.${status as 'ACTIVE'}`, { defaultValue: status })

/** What connects an instance to networks. */
export function InterfacesTab({ instance, cloud }: Of) {
  const { t } = useTranslation('computeInstance')
  const openDialog = useDialog()
  const { data: ips, refetch } = useCloudLines(computeFloatingIps.list, cloud.cloud_id)
  const ipsOf = (one: Interface) => (ips?.items ?? []).filter(({ bound_to }) => bound_to?.port_id === one.port_id)
  const cannotBind = whyNotInstance(t, 'update', instance, cloud)
  const detach = useChange(computeInstances.detachInterface, { invalidates: [...invalidatedByInstance, computePorts.list] })
  const off = whyNotInstance(t, 'attachInterface', instance, cloud)
  const cannotDetach = whyNotInstance(t, 'detachInterface', instance, cloud)
  const addressesOf = (one: Interface): string => one.addresses.map(({ address }) => address).join('、')
  return (
    <>
      <FailedServices failed={ips?.failed ?? []} onRetry={() => void refetch()} />
      <p>
        <AttachButton
          off={off}
          text={t('interfaces.attach')}
          onClick={() => openDialog((close) => <Attach instance={instance} cloud={cloud} onClose={close} />)}
        />
      </p>
      <Table<Interface>
        size="small"
        rowKey="port_id"
        pagination={false}
        dataSource={[...instance.interfaces]}
        locale={{ emptyText: <EmptyState title={t('interfaces.empty')}>{t('interfaces.emptyNote')}</EmptyState> }}
        columns={[
          {
            key: 'network',
            title: t('interfaces.column.network'),
            render: (_, one) => <Link to={paths.compute.network.detail(one.network_id)}>{instance.names[one.network_id] ?? one.network_id}</Link>,
          },
          {
            key: 'addresses',
            title: t('interfaces.column.addresses'),
            render: (_, one) => <span className="zs-code">{one.addresses.length === 0 ? format.nothing : addressesOf(one)}</span>,
          },
          {
            key: 'floating',
            title: t('floating'),
            render: (_, one) =>
              ipsOf(one).length === 0
                ? format.nothing
                : ipsOf(one).map(({ id, address }) => (
                    <div key={id}>
                      <Link className="zs-code" to={paths.compute.floatingIp.detail(id)}>
                        {address}
                      </Link>
                    </div>
                  )),
          },
          { key: 'mac', title: t('interfaces.column.mac'), render: (_, one) => <span className="zs-code">{one.mac ?? format.nothing}</span> },
          {
            key: 'status',
            title: t('interfaces.column.status'),
            render: (_, one) => <StatusTag tone={tones[one.status] ?? 'rest'}>{statusText(t, one.status)}</StatusTag>,
          },
          {
            key: 'port',
            title: t('interfaces.column.port'),
            render: (_, one) => (
              <Link className="zs-code" to={paths.compute.port.detail(one.port_id)}>
                {one.port_id}
              </Link>
            ),
          },
          {
            key: 'actions',
            title: t('interfaces.column.actions'),
            render: (_, one) => (
              <ActionMenu
                label={one.mac ?? one.port_id}
                actions={[
                  {
                    key: 'bind',
                    call: computeFloatingIps.bind,
                    label: t('action.bindFloatingIp'),
                    disabledReason: cannotBind ?? (fixedOf(one).length === 0 ? t('floatingIp.noFixed') : null),
                    dialog: (close) => <InstanceFloatingBind cloudId={cloud.cloud_id} instance={instance} portId={one.port_id} onClose={close} />,
                  },
                  {
                    key: 'unbind',
                    call: computeFloatingIps.unbind,
                    label: t('action.unbindFloatingIp'),
                    danger: true,
                    disabledReason: cannotBind ?? (ipsOf(one).length === 0 ? t('floatingIp.none') : null),
                    dialog: (close) => <InstanceFloatingUnbind cloudId={cloud.cloud_id} instance={instance} portId={one.port_id} onClose={close} />,
                  },
                  {
                    key: 'detach',
                    call: computeInstances.detachInterface,
                    label: t('interfaces.detach'),
                    danger: true,
                    disabledReason: cannotDetach,
                    confirm: {
                      title: t('interfaces.detachTitle', { mac: one.mac ?? one.port_id }),
                      body: t('interfaces.detachNote', { addresses: addressesOf(one) }),
                    },
                    doneText: t('interfaces.detachDone'),
                    run: () => detach.mutateAsync({ params: { cloud_id: cloud.cloud_id, id: instance.id, port_id: one.port_id } }),
                  },
                ]}
              />
            ),
          },
        ]}
      />
    </>
  )
}

/** Stays reachable while it is off, so that the reason can be read. */
export function AttachButton({ off, text, onClick }: { readonly off: string | null; readonly text: string; readonly onClick: () => void }) {
  return (
    <Tooltip title={off}>
      <Button
        aria-disabled={off !== null}
        className={off === null ? '' : 'zs-off'}
        onClick={() => {
          if (off === null) onClick()
        }}
      >
        {text}
      </Button>
    </Tooltip>
  )
}

interface Values {
  by: 'network' | 'port'
  network_id?: string | null
  port_id?: string | null
  address?: string
}

function Attach({ instance, cloud, onClose }: Of & { readonly onClose: () => void }) {
  const { t } = useTranslation('computeInstance')
  const [form] = Form.useForm<Values>()
  const by = Form.useWatch('by', form)
  const attach = useChange(computeInstances.attachInterface, { invalidates: [...invalidatedByInstance, computePorts.list], silent: true })
  const { shape } = computeInstances.attachInterface.body
  const required = (name: string) => [{ required: true, message: t('add.required', { field: name }) }]
  return (
    <FormDialog<Values>
      form={form}
      title={t('interfaces.title', { name: instance.name })}
      okText={t('interfaces.ok')}
      initialValues={{ by: 'network' }}
      doneText={t('interfaces.done')}
      onClose={onClose}
      onSubmit={({ network_id, port_id, address }) =>
        attach.mutateAsync({
          params: { cloud_id: cloud.cloud_id, id: instance.id },
          body:
            by === 'port' ? { port_id: port_id ?? '' } : { network_id: network_id ?? '', ...(address !== undefined && address.trim() !== '' && { address }) },
        })
      }
    >
      <RadioField
        name="by"
        label={t('interfaces.by')}
        options={[
          { value: 'network', label: t('interfaces.byNetwork') },
          { value: 'port', label: t('interfaces.byPort') },
        ]}
      />
      {by === 'port' ? (
        <Form.Item name="port_id" label={t('interfaces.port')} rules={required(t('interfaces.port'))}>
          <CloudSelect
            call={computePorts.list}
            cloudId={cloud.cloud_id}
            label={t('interfaces.port')}
            choiceOf={({ id, name, mac, addresses }) => ({ id, name: name === '' ? mac : name, note: addresses.map(({ address }) => address).join('、') })}
            only={({ use, keystone_project_id }) => use === 'free' && keystone_project_id === instance.keystone_project_id}
            none={t('interfaces.noPort')}
          />
        </Form.Item>
      ) : (
        <>
          <Form.Item name="network_id" label={t('interfaces.network')} rules={required(t('interfaces.network'))}>
            <CloudSelect
              call={computeNetworks.list}
              cloudId={cloud.cloud_id}
              label={t('interfaces.network')}
              choiceOf={networkChoice}
              only={isJoinable(instance.keystone_project_id)}
              none={t('add.networkNone')}
            />
          </Form.Item>
          <TextField name="address" label={t('interfaces.address')} extra={t('interfaces.addressNote')} schema={shape.address} />
        </>
      )}
    </FormDialog>
  )
}
