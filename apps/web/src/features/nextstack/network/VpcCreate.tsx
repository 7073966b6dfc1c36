import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Switch from 'antd/es/switch'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { field } from '../../../kit/rules.ts'
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
export function VpcCreate({ cloud, onClose }: { readonly cloud: CloudBasic; readonly onClose: () => void }) {
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
      <Form.Item name="cidr" label={t('field.cidr')} extra={t('field.cidrNote')} {...field(shape.cidr)}>
        <Input placeholder="10.1.0.0/24" maxLength={18} className="zs-code" />
      </Form.Item>
      <Form.Item name="snat" label={t('field.snat')} extra={t('field.snatNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="dhcp" label={t('field.dhcp')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <Form.Item name="dns_domain" label={t('field.dnsDomain')} extra={t('field.dnsDomainNote')} {...field(shape.dns_domain.unwrap().unwrap().optional())}>
        <Input maxLength={128} placeholder="example.internal" />
      </Form.Item>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
