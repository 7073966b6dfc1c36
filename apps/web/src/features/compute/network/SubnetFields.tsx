import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { newSubnet, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { readRange } from '@zhisuan/contract/compute/address'
import { useTranslation } from '../../../i18n.ts'
import { Field, RadioField, SwitchField } from '../../../kit/fields.tsx'
import { field } from '../../../kit/rules.ts'
import { judged, linesOf, poolsOf, poolsText, routesOf, routesText } from './networkText.ts'

export interface SubnetValues {
  cidr: string
  gatewayKind: 'first' | 'own' | 'none'
  gateway: string
  dhcp: boolean
  nameservers: string
  pools: string
  host_routes: string
}
export const noSubnet: SubnetValues = { cidr: '', gatewayKind: 'first', gateway: '', dhcp: true, nameservers: '', pools: '', host_routes: '' }

/** @param made of a subnet that is there, whose pools are kept where none are written */
export const settingsOf = (values: SubnetValues) => ({
  ...(values.gatewayKind !== 'first' && { gateway: values.gatewayKind === 'none' ? null : values.gateway.trim() }),
  dhcp: values.dhcp,
  nameservers: linesOf(values.nameservers),
  host_routes: routesOf(values.host_routes),
  ...(values.pools.trim() !== '' && { pools: poolsOf(values.pools) }),
})
export const valuesOf = (subnet: ComputeSubnet): SubnetValues => ({
  cidr: subnet.cidr,
  gatewayKind: subnet.gateway === null ? 'none' : 'own',
  gateway: subnet.gateway ?? '',
  dhcp: subnet.dhcp,
  nameservers: subnet.nameservers.join('\n'),
  pools: poolsText(subnet.pools),
  host_routes: routesText(subnet.host_routes),
})

const shape = newSubnet.shape

/** What a subnet is; `at` is where it stands in the form. */
export function SubnetFields({ at = [], fixed = false }: { readonly at?: readonly string[]; /** Its range stays as it is. */ readonly fixed?: boolean }) {
  const { t } = useTranslation('computeNetwork')
  const form = Form.useFormInstance()
  const name = (key: keyof SubnetValues) => [...at, key]
  const kind = Form.useWatch(name('gatewayKind'), form) as SubnetValues['gatewayKind'] | undefined
  const v6 = readRange((Form.useWatch(name('cidr'), form) as string | undefined) ?? '')?.version === 6
  const line = (number: number, message: string): string => t('field.line', { number, message })
  return (
    <>
      <Form.Item name={name('cidr')} label={t('field.cidr')} extra={fixed ? undefined : t('field.cidrNote')} {...(fixed ? {} : field(shape.cidr))}>
        <Input className="zs-code" placeholder="10.1.0.0/24" disabled={fixed} />
      </Form.Item>
      <RadioField
        name={name('gatewayKind')}
        label={t('field.gateway')}
        values={fixed ? (['own', 'none'] as const) : (['first', 'own', 'none'] as const)}
        labelOf={(value) => t(`field.gatewayKind.${value}`)}
      />
      {kind === 'own' && (
        <Field name={name('gateway')} label={t('field.gatewayAddress')} schema={shape.gateway.unwrap().unwrap()}>
          <Input className="zs-code" placeholder={v6 ? '2001:db8::1' : '10.1.0.1'} />
        </Field>
      )}
      <SwitchField name={name('dhcp')} label={t('field.dhcp')} extra={t('field.dhcpNote')} />
      <Form.Item
        name={name('nameservers')}
        label={t('field.nameservers')}
        extra={t('field.nameserversNote')}
        rules={judged(shape.nameservers.unwrap(), linesOf, line)}
      >
        <Input.TextArea className="zs-code" autoSize={{ minRows: 1, maxRows: 5 }} />
      </Form.Item>
      <Form.Item name={name('pools')} label={t('field.pools')} extra={t('field.poolsNote')} rules={judged(shape.pools.unwrap(), poolsOf, line)}>
        <Input.TextArea className="zs-code" autoSize={{ minRows: 1, maxRows: 6 }} placeholder="10.1.0.10-10.1.0.200" />
      </Form.Item>
      <Form.Item
        name={name('host_routes')}
        label={t('field.hostRoutes')}
        extra={t('field.hostRoutesNote')}
        rules={judged(shape.host_routes.unwrap(), routesOf, line)}
      >
        <Input.TextArea className="zs-code" autoSize={{ minRows: 1, maxRows: 6 }} placeholder="10.99.0.0/16 10.1.0.9" />
      </Form.Item>
    </>
  )
}
