import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { containerSpec } from '@zhisuan/contract/cis/container'
import { translate, useTranslation } from '../../i18n.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { CheckField, Field, TextField } from '../../kit/fields.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import { refusing, wrongWith } from '../../kit/rules.ts'
import { wordsOf } from './commandLine.ts'
import './container.css'
import { EnvFields } from './EnvFields.tsx'
import { ImageField } from './ImageField.tsx'
import { MountFields } from './MountFields.tsx'
import { PortFields } from './PortFields.tsx'

const { shape } = containerSpec
const healthShape = shape.health.unwrap().unwrap().shape
const restarts = ['unless-stopped', 'always', 'on-failure', 'no'] as const

/** A command line whose quotes are closed, and whose words the contract takes. */
const lineRule = (schema: typeof shape.command | typeof shape.entrypoint) =>
  refusing((line: string | undefined) => {
    const words = wordsOf(line ?? '')
    return words === null ? translate('container:field.commandOpen') : wrongWith(schema, words)
  })

/**
 * What a container is made from, below `spec` of the form around it.
 * @param edgeId the node whose images are offered; null while none is chosen
 */
export function SpecFields({ edgeId }: { readonly edgeId: string | null }) {
  const { t } = useTranslation('container')
  return (
    <>
      <ImageField edgeId={edgeId} />
      <Form.Item name={['spec', 'command']} label={t('field.command')} extra={t('field.commandNote')} rules={[lineRule(shape.command)]}>
        <Input.TextArea autoSize={{ minRows: 1, maxRows: 6 }} className="zs-code" spellCheck={false} />
      </Form.Item>
      <div className="cn-pair">
        <TextField name={['spec', 'entrypoint']} label={t('field.entrypoint')} rules={[lineRule(shape.entrypoint)]} code />
        <TextField name={['spec', 'working_dir']} label={t('field.workingDir')} rules={optional(shape.working_dir)} code />
      </div>
      <Form.Item label={t('field.env')} className="cn-list">
        <EnvFields />
      </Form.Item>
      <Form.Item label={t('field.ports')} extra={t('field.portsNote')} className="cn-list">
        <PortFields />
      </Form.Item>
      <Form.Item label={t('field.mounts')} className="cn-list">
        <MountFields />
      </Form.Item>
      <SelectField name={['spec', 'restart']} label={t('field.restart')} values={restarts} labelOf={(value) => t(`restart.${value}`)} />
      <div className="cn-pair">
        <NumberField
          name={['spec', 'cpu_limit']}
          label={t('field.cpu')}
          schema={shape.cpu_limit}
          step={0.5}
          placeholder={t('field.unlimited')}
          className="cn-number"
        />
        <Field name={['spec', 'memory_limit_bytes']} label={t('field.memory')} schema={shape.memory_limit_bytes}>
          <SizeInput />
        </Field>
        <NumberField name={['spec', 'gpus']} label={t('field.gpus')} schema={shape.gpus.unwrap().nullable()} required={false} className="cn-number" />
      </div>
      <CheckField name={['spec', 'checked']} text={t('field.health')} />
      <HealthFields />
    </>
  )
}

/** A cleared input means that nothing is wanted. */
const optional = (schema: typeof shape.working_dir) => [
  refusing((value: string | undefined) => wrongWith(schema, value === undefined || value.trim() === '' ? null : value)),
]

function HealthFields() {
  const { t } = useTranslation('container')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const checked = Form.useWatch(['spec', 'checked']) as boolean | undefined
  if (checked !== true) return null
  return (
    <>
      <TextField name={['spec', 'health', 'command']} label={t('field.healthCommand')} extra={t('field.healthCommandNote')} schema={healthShape.command} code />
      <div className="cn-pair">
        <NumberField
          name={['spec', 'health', 'interval_seconds']}
          label={t('field.interval')}
          schema={healthShape.interval_seconds.unwrap()}
          required={false}
          className="cn-number"
        />
        <NumberField
          name={['spec', 'health', 'timeout_seconds']}
          label={t('field.timeout')}
          schema={healthShape.timeout_seconds.unwrap()}
          required={false}
          className="cn-number"
        />
        <NumberField
          name={['spec', 'health', 'retries']}
          label={t('field.retries')}
          schema={healthShape.retries.unwrap()}
          required={false}
          className="cn-number"
        />
      </div>
    </>
  )
}
