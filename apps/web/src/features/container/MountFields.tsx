import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import { configs, mount } from '@zhisuan/contract/cis/container'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { CheckField, Field } from '../../kit/fields.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { refusing, wrongWith } from '../../kit/rules.ts'
import { blankMount, type MountValues } from './specForm.ts'
import './container.css'

const types = ['volume', 'bind', 'config'] as const
const [volume, bind] = mount.options

/** What the container sees of outside: named volumes, directories of the node, configs. */
export function MountFields() {
  const { t } = useTranslation('container')
  return (
    <Form.List name={['spec', 'mounts']}>
      {(rows, { add, remove }, { errors }) => (
        <div className="zs-rows">
          {rows.map(({ key, name }) => (
            <div key={key} className="zs-row cn-row-mount">
              <Form.Item name={[name, 'type']}>
                <Select aria-label={`${t('field.mountType')} ${name + 1}`} options={types.map((value) => ({ value, label: t(`field.mountTypes.${value}`) }))} />
              </Form.Item>
              <Source index={name} />
              <Field name={[name, 'path']} schema={volume.shape.path} required={false}>
                <Input className="zs-code" placeholder={t('field.mountPath')} aria-label={`${t('field.mountPath')} ${name + 1}`} />
              </Field>
              <ReadOnly index={name} />
              <RemoveRow index={name} onRemove={() => remove(name)} />
            </div>
          ))}
          <Form.ErrorList errors={errors} />
          <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= 50} onClick={() => add(blankMount)}>
            {t('field.mountAdd')}
          </Button>
        </div>
      )}
    </Form.List>
  )
}

// antd does not know the values of a form around it.
const useType = (index: number): MountValues['type'] => (Form.useWatch(['spec', 'mounts', index, 'type']) as MountValues['type'] | undefined) ?? 'volume'

/** What is not typed yet is an empty text, and no other kind of thing. */
const typed = (schema: typeof volume.shape.name | typeof bind.shape.host_path) => [refusing((value: string | undefined) => wrongWith(schema, value ?? ''))]

function Source({ index }: { readonly index: number }) {
  const { t } = useTranslation('container')
  const type = useType(index)
  const config = useCall(configs.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true, enabled: type === 'config' })
  switch (type) {
    case 'volume':
      return (
        <Form.Item key="volume" name={[index, 'name']} rules={typed(volume.shape.name)}>
          <Input className="zs-code" placeholder={t('field.volumeName')} aria-label={`${t('field.volumeName')} ${index + 1}`} />
        </Form.Item>
      )
    case 'bind':
      return (
        <Form.Item key="bind" name={[index, 'host_path']} rules={typed(bind.shape.host_path)} extra={t('field.bindNote')}>
          <Input className="zs-code" placeholder={t('field.hostPath')} aria-label={`${t('field.hostPath')} ${index + 1}`} />
        </Form.Item>
      )
    case 'config':
      return (
        <Field key="config" name={[index, 'config_id']} missing={fieldTexts.contentRequired}>
          <Select
            showSearch={{ optionFilterProp: 'label' }}
            placeholder={t('field.config')}
            aria-label={`${t('field.config')} ${index + 1}`}
            loading={config.isPending}
            notFoundContent={config.isPending ? null : t('field.configNone')}
            options={(config.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          />
        </Field>
      )
  }
}

function ReadOnly({ index }: { readonly index: number }) {
  const { t } = useTranslation('container')
  // Configs cannot be written to at all.
  if (useType(index) === 'config') return <span className="zs-soft">{t('field.readOnly')}</span>
  return <CheckField name={[index, 'read_only']} text={t('field.readOnly')} />
}
