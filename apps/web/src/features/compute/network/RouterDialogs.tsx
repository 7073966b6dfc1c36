import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { computeNetworks, computePorts, routeList, type ComputeNetwork } from '@zhisuan/contract/compute/network'
import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { CheckField, Field, RadioField, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { LineSelect, LineSelects } from './LineSelect.tsx'
import { changedOf } from './NetworkDialogs.tsx'
import { judged, routesOf, routesText, subnetLabel, invalidatedByNetwork } from './networkText.ts'

type OfRouter = Dialog<{ cloudId: string; router: ComputeRouter }>
const externals = (networks: readonly ComputeNetwork[]) =>
  networks.filter(({ external }) => external).map(({ id, name }) => ({ value: id, label: name === '' ? id : name }))
/** By their gateway's address, which the router takes; so those without one are not among them. */
const joinable = (networks: readonly ComputeNetwork[], joined: ReadonlySet<string | null>) =>
  networks
    .filter(({ external }) => !external)
    .flatMap((network) =>
      network.subnets
        .filter(({ id, gateway }) => gateway !== null && !joined.has(id))
        .map((subnet) => ({ value: subnet.id, label: `${network.name} / ${subnetLabel(subnet)}` })),
    )

interface Values {
  name: string
  description: string
  project_id?: string
  gateway?: { network_id?: string }
  subnet_ids: string[]
}
/** Makes a router with its way out and all that it joins: all of it, or nothing. */
export function RouterCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeNetwork')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(computeRouters.create, { invalidates: invalidatedByNetwork, silent: true })
  const { shape } = computeRouters.create.body
  return (
    <FormDialog<Values>
      form={form}
      title={t('router.create')}
      okText={t('router.create')}
      initialValues={{ name: '', description: '', subnet_ids: [] }}
      doneText={t('router.created', { name })}
      onClose={onClose}
      onSubmit={({ gateway, project_id, ...values }) =>
        create.mutateAsync({
          params: { cloud_id: cloudId },
          body: { ...values, project_id: project_id ?? null, gateway: gateway?.network_id === undefined ? null : { network_id: gateway.network_id } },
        })
      }
    >
      <NameField schema={shape.name} />
      <Form.Item name={['gateway', 'network_id']} label={t('router.gateway')} extra={t('field.gatewayNetworkNote')}>
        <LineSelect call={computeNetworks.list} cloudId={cloudId} label={t('router.gateway')} placeholder={t('router.noGateway')} options={externals} />
      </Form.Item>
      <Form.Item name="subnet_ids" label={t('router.subnets')} extra={t('field.subnetsNote')}>
        <LineSelects call={computeNetworks.list} cloudId={cloudId} label={t('router.subnets')} options={(networks) => joinable(networks, new Set())} />
      </Form.Item>
      <ProjectField />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

type EditValues = Pick<ComputeRouter, 'name' | 'description' | 'enabled'>
export function RouterEdit({ cloudId, router, onClose }: OfRouter) {
  const { t } = useTranslation('computeNetwork')
  const update = useChange(computeRouters.update, { invalidates: invalidatedByNetwork, silent: true })
  const { name, description, enabled } = router
  const { shape } = computeRouters.update.body
  return (
    <FormDialog<EditValues>
      title={t('router.editTitle', { name })}
      okText={t('save')}
      initialValues={{ name, description, enabled }}
      doneText={t('saved', { name })}
      onClose={onClose}
      onSubmit={(values) => update.mutateAsync({ params: { cloud_id: cloudId, id: router.id }, body: changedOf({ name, description, enabled }, values) })}
    >
      <TextField name="name" label={t('column.name')} schema={shape.name.unwrap()} autoFocus />
      <SwitchField name="enabled" label={t('column.enabled')} extra={t('field.enabledNote')} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

interface GatewayValues {
  network_id?: string
  snat: boolean
}
export function GatewayDialog({ cloudId, router, onClose }: OfRouter) {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const set = useChange(computeRouters.setGateway, { invalidates: invalidatedByNetwork, silent: true })
  return (
    <FormDialog<GatewayValues>
      title={t('router.gatewayTitle', { name: router.name })}
      okText={t('save')}
      initialValues={{ snat: router.gateway?.snat ?? true, ...(router.gateway !== null && { network_id: router.gateway.network_id }) }}
      doneText={t('router.gatewaySet')}
      onClose={onClose}
      onSubmit={({ network_id = '', snat }) =>
        set.mutateAsync({ params: { cloud_id: cloudId, id: router.id }, body: { network_id, ...(platform && { snat }) } })
      }
    >
      <Field name="network_id" label={t('router.gateway')} extra={t('field.gatewayNetworkNote')} missing={t('field.externalRequired')}>
        <LineSelect call={computeNetworks.list} cloudId={cloudId} label={t('router.gateway')} options={externals} />
      </Field>
      {platform && <CheckField name="snat" text={t('router.snat')} extra={t('field.snatNote')} />}
    </FormDialog>
  )
}

interface InterfaceValues {
  by: 'subnet' | 'port'
  subnet_id?: string
  port_id?: string
}
export function InterfaceDialog({ cloudId, router, onClose }: OfRouter) {
  const { t } = useTranslation('computeNetwork')
  const [form] = Form.useForm<InterfaceValues>()
  const by = Form.useWatch('by', form) ?? 'subnet'
  const add = useChange(computeRouters.addInterface, { invalidates: invalidatedByNetwork, silent: true })
  const joined = new Set(router.interfaces.flatMap(({ addresses }) => addresses.map(({ subnet_id }) => subnet_id)))
  return (
    <FormDialog<InterfaceValues>
      form={form}
      title={t('router.joinTitle', { name: router.name })}
      okText={t('router.join')}
      initialValues={{ by: 'subnet' }}
      doneText={t('router.joined')}
      onClose={onClose}
      onSubmit={({ subnet_id, port_id }) =>
        add.mutateAsync({ params: { cloud_id: cloudId, id: router.id }, body: by === 'subnet' ? { subnet_id } : { port_id } })
      }
    >
      <RadioField name="by" label={t('field.by')} values={['subnet', 'port'] as const} labelOf={(value) => t(`field.byKind.${value}`)} />
      {by === 'subnet' ? (
        <Field key="subnet" name="subnet_id" label={t('field.subnet')} extra={t('field.joinNote')} missing={t('field.subnetRequired')}>
          <LineSelect
            call={computeNetworks.list}
            cloudId={cloudId}
            label={t('field.subnet')}
            placeholder={t('field.subnetChoose')}
            options={(networks) => joinable(networks, joined)}
          />
        </Field>
      ) : (
        <Field key="port" name="port_id" label={t('field.port')} extra={t('field.joinPortNote')} missing={t('field.portRequired')}>
          <LineSelect
            call={computePorts.list}
            cloudId={cloudId}
            label={t('field.port')}
            options={(ports) =>
              ports
                .filter(({ use, addresses }) => use === 'free' && addresses.length > 0)
                .map((port) => ({
                  value: port.id,
                  label: [port.name, ...port.addresses.map(({ address }) => address)].filter((part) => part !== '').join(' · '),
                }))
            }
          />
        </Field>
      )}
    </FormDialog>
  )
}

interface RouteValues {
  routes: string
}
export function RoutesDialog({ cloudId, router, onClose }: OfRouter) {
  const { t } = useTranslation('computeNetwork')
  const set = useChange(computeRouters.setRoutes, { invalidates: invalidatedByNetwork, silent: true })
  return (
    <FormDialog<RouteValues>
      title={t('router.routesTitle', { name: router.name })}
      okText={t('save')}
      initialValues={{ routes: routesText(router.routes) }}
      doneText={t('router.routesSet')}
      onClose={onClose}
      onSubmit={({ routes }) => set.mutateAsync({ params: { cloud_id: cloudId, id: router.id }, body: { routes: routesOf(routes) } })}
    >
      <Form.Item
        name="routes"
        label={t('router.routes')}
        extra={t('field.routesNote')}
        rules={judged(routeList, routesOf, (number, message) => t('field.line', { number, message }))}
      >
        <Input.TextArea autoFocus className="zs-code" autoSize={{ minRows: 4, maxRows: 14 }} placeholder="10.99.0.0/16 10.1.0.9" />
      </Form.Item>
    </FormDialog>
  )
}
