import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import {
  computeSecurityGroups,
  hasPorts,
  isIcmp,
  ruleProblems,
  ruleWish,
  type ComputeSecurityGroup,
  type RuleDirection,
  type RuleWish,
} from '@zhisuan/contract/compute/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { Field, RadioField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField } from '../../../kit/NameFields.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { refusing } from '../../../kit/rules.ts'
import { LineSelect } from '../network/LineSelect.tsx'
import './security.css'
import {
  echoOf,
  exposedBy,
  filledBy,
  protocols,
  remoteKinds,
  serviceNames,
  invalidatedByGroup,
  wishOf,
  type RuleValues,
  type Service,
} from './securityRules.ts'

const { shape } = ruleWish
interface Values extends RuleValues {
  service?: Service
}

/** Lets something through: a service that many need, or what is typed. */
export function RuleDialog({ cloudId, group, direction, onClose }: Dialog<{ cloudId: string; group: ComputeSecurityGroup; direction: RuleDirection }>) {
  const { t } = useTranslation('computeSecurity')
  const [form] = Form.useForm<Values>()
  const initial: Values = { direction, version: 4, protocol: 'tcp', remote: 'any', description: '' }
  // Fields that do not show keep nothing: what stands in the form is what is seen.
  const values: Values = { ...initial, ...Form.useWatch([], form), direction }
  const add = useChange(computeSecurityGroups.addRule, { invalidates: invalidatedByGroup, silent: true })
  const wish = wishOf(values)
  const exposed = exposedBy(wish)
  const { version, protocol, remote } = values
  /** What does not fit together, at its field. */
  const fits = (name: keyof RuleWish) =>
    refusing(() => ruleProblems(wishOf({ ...initial, ...form.getFieldsValue(), direction })).find(({ field }) => field === name)?.message)
  const fill = (service: Service | undefined): void => {
    if (service !== undefined) form.setFieldsValue(filledBy(service, version))
  }
  return (
    <FormDialog<Values>
      form={form}
      title={t(`rule.addTitle.${direction}`)}
      okText={t('rule.add')}
      width={600}
      initialValues={initial}
      doneText={t('rule.added')}
      onClose={onClose}
      onSubmit={(typed) => add.mutateAsync({ params: { cloud_id: cloudId, id: group.id }, body: wishOf({ ...typed, direction }) })}
    >
      <SelectField
        name="service"
        label={t('rule.service')}
        allowClear
        placeholder={t('rule.serviceChoose')}
        onChange={fill}
        values={serviceNames}
        labelOf={(value) => t(`rule.services.${value}`)}
      />
      <Form.Item name="version" label={t('rule.field.version')}>
        <Radio.Group
          optionType="button"
          options={([4, 6] as const).map((value) => ({ value, label: `IPv${value}` }))}
          onChange={() => void form.validateFields(['remote_cidr'], { dirty: true }).catch(() => undefined)}
        />
      </Form.Item>
      <Form.Item name="protocol" label={t('rule.field.protocol')}>
        <Radio.Group
          optionType="button"
          options={protocols.map((value) => ({ value, label: value === 'icmp' && version === 6 ? 'ICMPv6' : t(`rule.field.kinds.${value}`) }))}
        />
      </Form.Item>
      {protocol === 'other' && (
        <NumberField
          name="number"
          label={t('rule.field.number')}
          extra={t('rule.field.numberNote')}
          missing={t('rule.field.numberRequired')}
          min={0}
          max={255}
        />
      )}
      {hasPorts(wish.protocol) && (
        <Form.Item extra={t('rule.field.portsNote')}>
          <div className="cs-pair">
            <NumberField
              name="port_from"
              label={t('rule.field.from')}
              schema={shape.port_from}
              rules={[fits('port_from')]}
              dependencies={['port_to']}
              controls={false}
            />
            <NumberField
              name="port_to"
              label={t('rule.field.to')}
              schema={shape.port_to}
              rules={[fits('port_to')]}
              dependencies={['port_from']}
              controls={false}
            />
          </div>
        </Form.Item>
      )}
      {isIcmp(wish.protocol) && (
        <Form.Item extra={t('rule.field.icmpNote', { type: echoOf(version) })}>
          <div className="cs-pair">
            <NumberField
              name="icmp_type"
              label={t('rule.field.type')}
              schema={shape.icmp_type}
              rules={[fits('icmp_type')]}
              dependencies={['icmp_code']}
              controls={false}
            />
            <NumberField
              name="icmp_code"
              label={t('rule.field.code')}
              schema={shape.icmp_code}
              rules={[fits('icmp_code')]}
              dependencies={['icmp_type']}
              controls={false}
            />
          </div>
        </Form.Item>
      )}
      <RadioField name="remote" label={t(`rule.field.remote.${direction}`)} values={remoteKinds} labelOf={(value) => t(`rule.field.remoteKind.${value}`)} />
      {remote === 'cidr' && (
        <Field
          name="remote_cidr"
          label={t('rule.field.cidr')}
          schema={shape.remote_cidr.unwrap().unwrap()}
          rules={[fits('remote_cidr')]}
          dependencies={['version']}
        >
          <Input className="zs-code" autoComplete="off" placeholder={version === 6 ? '2001:db8::/64' : '10.1.0.0/24'} />
        </Field>
      )}
      {remote === 'group' && (
        <Field name="remote_group_id" label={t('rule.field.group')} extra={t('rule.field.groupNote')} missing={t('rule.field.groupRequired')}>
          <LineSelect
            call={computeSecurityGroups.list}
            cloudId={cloudId}
            label={t('rule.field.group')}
            placeholder={t('rule.field.groupChoose')}
            options={(groups) =>
              groups
                .filter(({ keystone_project_id: owner }) => owner === group.keystone_project_id)
                .map(({ id, name }) => ({ value: id, label: name === '' ? id : name }))
            }
          />
        </Field>
      )}
      <DescriptionField schema={shape.description} rows={1} />
      {exposed.length > 0 && (
        <Alert type="warning" showIcon title={t('rule.exposedTitle', { services: exposed.join('、') })} description={t('rule.exposedAdvice')} />
      )}
    </FormDialog>
  )
}
