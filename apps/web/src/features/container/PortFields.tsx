import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { fieldTexts } from '@zhisuan/contract/texts'
import { translate, useTranslation } from '../../i18n.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { blankPort, type SpecValues } from './specForm.ts'
import { onceIn } from '../../kit/isTwice.ts'
import { refusing } from '../../kit/rules.ts'
import './container.css'

const portRule = refusing((value: number | null | undefined) => ((value ?? 0) < 1 || (value ?? 0) > 65_535 ? translate('container:field.portRequired') : null))
/** No port of the node twice, where its protocol is the same. */
const keyOf = ({ host_port, protocol }: SpecValues['ports'][number]): string => (typeof host_port === 'number' ? `${host_port}/${protocol}` : '')
const onceRule = (index: number) => onceIn(['spec', 'ports'], index, keyOf, fieldTexts.portTwice)

/** Ports of the node that lead into the container. */
export function PortFields() {
  const { t } = useTranslation('container')
  return (
    <Form.List name={['spec', 'ports']}>
      {(rows, { add, remove }, { errors }) => (
        <div className="zs-rows">
          {rows.map(({ key, name }) => (
            <div key={key} className="zs-row cn-row-port">
              <NumberField
                name={[name, 'host_port']}
                rules={[portRule, onceRule(name)]}
                dependencies={[['spec', 'ports']]}
                min={1}
                max={65_535}
                placeholder={t('field.hostPort')}
                aria-label={`${t('field.hostPort')} ${name + 1}`}
                className="cn-number"
              />
              <span aria-hidden="true">→</span>
              <NumberField
                name={[name, 'container_port']}
                rules={[portRule]}
                min={1}
                max={65_535}
                placeholder={t('field.containerPort')}
                aria-label={`${t('field.containerPort')} ${name + 1}`}
                className="cn-number"
              />
              <Form.Item name={[name, 'protocol']}>
                <Select aria-label={`${t('field.protocol')} ${name + 1}`} options={['tcp', 'udp'].map((value) => ({ value, label: value.toUpperCase() }))} />
              </Form.Item>
              <RemoveRow index={name} onRemove={() => remove(name)} />
            </div>
          ))}
          <Form.ErrorList errors={errors} />
          <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= 100} onClick={() => add(blankPort)}>
            {t('field.portAdd')}
          </Button>
        </div>
      )}
    </Form.List>
  )
}
