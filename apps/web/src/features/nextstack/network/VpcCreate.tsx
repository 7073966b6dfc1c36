import Form from 'antd/es/form'
import Input from 'antd/es/input'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field, SwitchField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { invalidatedByVpc } from './vpcRules.ts'

interface Values {
  name: string
  description: string
  cidr: string
  dns_domain: string
  dhcp: boolean
  snat: boolean
}
const shape = vpcs.create.body.shape

/** Makes a private network, with a way out where that is wished for. */
export function VpcCreate({ cloud, onClose }: Dialog<{ cloud: CloudBasic }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const create = useChange(vpcs.create, { invalidates: invalidatedByVpc, silent: true })
  return (
    <FormDialog<Values>
      form={form}
      title={t('vpc.create')}
      okText={t('vpc.createOk')}
      initialValues={{ name: '', description: '', cidr: '', dns_domain: '', dhcp: true, snat: true }}
      doneText={t('vpc.created', { name })}
      onClose={onClose}
      onSubmit={({ dns_domain, ...values }) =>
        create.mutateAsync({ body: { ...values, dns_domain: dns_domain === '' ? null : dns_domain, cloud_id: cloud.cloud_id } })
      }
    >
      <NameField schema={shape.name} />
      <TextField name="cidr" label={t('field.cidr')} extra={t('field.cidrNote')} schema={shape.cidr} placeholder="10.1.0.0/24" code />
      <SwitchField name="snat" label={t('field.snat')} extra={t('field.snatNote')} />
      <SwitchField name="dhcp" label={t('field.dhcp')} />
      <Field name="dns_domain" label={t('field.dnsDomain')} extra={t('field.dnsDomainNote')} schema={shape.dns_domain.unwrap().unwrap().optional()}>
        <Input placeholder="example.internal" />
      </Field>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
