import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { computeNetworks, computePorts, type ComputePort } from '@zhisuan/contract/compute/network'
import { computeSecurityGroups } from '@zhisuan/contract/compute/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { LineSelect, LineSelects } from './LineSelect.tsx'
import { judged, linesOf, networkLabel, subnetLabel, invalidatedByNetwork } from './networkText.ts'
import './network.css'

interface Wanted {
  subnet_id?: string
  address?: string
}
interface Values {
  name: string
  description: string
  project_id?: string
  network_id?: string
  enabled: boolean
  addresses: Wanted[]
  security_group_ids: string[]
  port_security: boolean
  allowed_addresses: string
}
const shape = computePorts.create.body.shape

const addressesOf = (wanted: readonly Wanted[]) =>
  wanted.map(({ subnet_id = '', address }) => ({ subnet_id, ...(address !== undefined && address.trim() !== '' && { address }) }))

/** Makes a port, to plug into an instance or a router. */
export function PortCreate({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const networkId = Form.useWatch('network_id', form)
  const create = useChange(computePorts.create, { invalidates: invalidatedByNetwork, silent: true })
  return (
    <FormDialog<Values>
      form={form}
      title={t('port.create')}
      okText={t('port.create')}
      width={600}
      initialValues={{ name: '', description: '', enabled: true, addresses: [], security_group_ids: [], port_security: true, allowed_addresses: '' }}
      doneText={t('port.created', { name })}
      onClose={onClose}
      onSubmit={({ network_id = '', project_id, addresses, security_group_ids, port_security, allowed_addresses, ...values }) =>
        create.mutateAsync({
          params: { cloud_id: cloudId },
          body: {
            ...values,
            network_id,
            project_id: project_id ?? null,
            // What is the default on the cloud is left to it: not everybody may say it of a network that is everybody's.
            ...(addresses.length > 0 && { addresses: addressesOf(addresses) }),
            ...(!port_security && { port_security }),
            ...(port_security && security_group_ids.length > 0 && { security_group_ids }),
            ...(port_security && allowed_addresses.trim() !== '' && { allowed_addresses: linesOf(allowed_addresses) }),
          },
        })
      }
    >
      <NameField schema={shape.name} />
      <Field name="network_id" label={t('column.network')} missing={t('field.networkRequired')}>
        <LineSelect
          call={computeNetworks.list}
          cloudId={cloudId}
          label={t('column.network')}
          placeholder={t('field.networkChoose')}
          options={(networks) =>
            networks.filter(({ external, shared }) => platform || !external || shared).map((network) => ({ value: network.id, label: networkLabel(network) }))
          }
        />
      </Field>
      <PortFields cloudId={cloudId} networkId={networkId} guardNote={t('field.groupsNote')} />
      <ProjectField />
      <DescriptionField schema={shape.description.unwrap()} />
    </FormDialog>
  )
}

/** Changes a port; only what was changed is sent. */
export function PortEdit({ cloudId, port, onClose }: Dialog<{ cloudId: string; port: ComputePort }>) {
  const { t } = useTranslation('computeNetwork')
  const update = useChange(computePorts.update, { invalidates: invalidatedByNetwork, silent: true })
  const { name, description, enabled, security_group_ids, port_security } = port
  const initial: Values = {
    name,
    description,
    enabled,
    security_group_ids,
    port_security,
    addresses: port.addresses.map(({ address, subnet_id }) => ({ address, ...(subnet_id !== null && { subnet_id }) })),
    allowed_addresses: port.allowed_addresses.join('\n'),
  }
  const submit = (values: Values) => {
    const { addresses, allowed_addresses, ...rest } = { ...initial, ...values }
    const differs = (key: 'name' | 'description' | 'enabled' | 'port_security'): boolean => rest[key] !== initial[key]
    return update.mutateAsync({
      params: { cloud_id: cloudId, id: port.id },
      body: {
        ...(differs('name') && { name: rest.name }),
        ...(differs('description') && { description: rest.description }),
        ...(differs('enabled') && { enabled: rest.enabled }),
        ...(differs('port_security') && { port_security: rest.port_security }),
        ...(JSON.stringify(addresses) !== JSON.stringify(initial.addresses) && { addresses: addressesOf(addresses) }),
        ...(rest.port_security &&
          JSON.stringify(rest.security_group_ids) !== JSON.stringify(initial.security_group_ids) && { security_group_ids: rest.security_group_ids }),
        ...(rest.port_security && allowed_addresses !== initial.allowed_addresses && { allowed_addresses: linesOf(allowed_addresses) }),
      },
    })
  }
  return (
    <FormDialog<Values>
      title={t('port.editTitle', { name: name === '' ? port.mac : name })}
      okText={t('save')}
      width={600}
      initialValues={initial}
      doneText={t('saved', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="name" label={t('column.name')} schema={computePorts.update.body.shape.name} autoFocus />
      <PortFields cloudId={cloudId} networkId={port.network_id} />
      <DescriptionField schema={shape.description.unwrap()} />
    </FormDialog>
  )
}

function PortFields({ cloudId, networkId, guardNote }: { readonly cloudId: string; readonly networkId: string | undefined; readonly guardNote?: string }) {
  const { t } = useTranslation('computeNetwork')
  const form = Form.useFormInstance<Values>()
  const guarded = Form.useWatch('port_security', form) ?? true
  return (
    <>
      <Form.List name="addresses">
        {(rows, { add, remove }) => (
          <Form.Item label={t('field.addresses')} extra={t('field.addressesNote')}>
            {rows.map((row) => (
              <div key={row.key} className="cnet-row">
                <Field name={[row.name, 'subnet_id']} className="cnet-cell" missing={t('field.subnetRequired')}>
                  <LineSelect
                    call={computeNetworks.list}
                    cloudId={cloudId}
                    label={t('field.subnetOf', { number: row.name + 1 })}
                    placeholder={t('field.subnetChoose')}
                    options={(networks) =>
                      (networks.find(({ id }) => id === networkId)?.subnets ?? []).map((subnet) => ({ value: subnet.id, label: subnetLabel(subnet) }))
                    }
                  />
                </Field>
                <Field name={[row.name, 'address']} className="cnet-cell" schema={shape.addresses.unwrap().element.shape.address}>
                  <Input className="zs-code" placeholder={t('field.addressAny')} aria-label={t('field.addressOf', { number: row.name + 1 })} />
                </Field>
                <Button onClick={() => remove(row.name)} aria-label={t('field.addressRemove', { number: row.name + 1 })}>
                  {t('remove')}
                </Button>
              </div>
            ))}
            <Button disabled={networkId === undefined || rows.length >= 10} onClick={() => add({})}>
              {t('field.addressAdd')}
            </Button>
          </Form.Item>
        )}
      </Form.List>
      <SwitchField name="port_security" label={t('column.portSecurity')} extra={t('field.portSecurityNote')} />
      {guarded && (
        <>
          <Form.Item name="security_group_ids" label={t('column.groups')} extra={guardNote}>
            <LineSelects
              call={computeSecurityGroups.list}
              cloudId={cloudId}
              label={t('column.groups')}
              options={(groups) => groups.map(({ id, name }) => ({ value: id, label: name === '' ? id : name }))}
            />
          </Form.Item>
          <Form.Item
            name="allowed_addresses"
            label={t('field.allowed')}
            extra={t('field.allowedNote')}
            rules={judged(shape.allowed_addresses.unwrap(), linesOf, (number, message) => t('field.line', { number, message }))}
          >
            <Input.TextArea className="zs-code" autoSize={{ minRows: 1, maxRows: 5 }} />
          </Form.Item>
        </>
      )}
      <SwitchField name="enabled" label={t('column.enabled')} extra={t('field.enabledNote')} />
    </>
  )
}
