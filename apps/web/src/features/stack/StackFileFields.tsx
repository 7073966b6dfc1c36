import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { stackFile } from '@zhisuan/contract/aos/stack'
import { configs } from '@zhisuan/contract/cis/container'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { SelectField } from '../../kit/SelectField.tsx'
import { Field } from '../../kit/fields.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { onceIn } from '../../kit/isTwice.ts'
import type { SourceValues } from './sourceForm.ts'
import './stack.css'

const onceRule = (index: number) => onceIn<SourceValues['configs'][number]>('configs', index, ({ path }) => path, fieldTexts.stackFileTwice)

/** Configs as files beside the compose file, which mounts them by these paths. */
export function StackFileFields() {
  const { t } = useTranslation('application')
  const { data, isPending } = useCall(configs.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  return (
    <Form.List name="configs">
      {(rows, { add, remove }, { errors }) => (
        <div className="zs-rows">
          {rows.map(({ key, name }) => (
            <div key={key} className="zs-row as-row-file">
              <SelectField
                name={[name, 'config_id']}
                missing={fieldTexts.contentRequired}
                showSearch={{ optionFilterProp: 'label' }}
                placeholder={t('file.config')}
                aria-label={`${t('file.config')} ${name + 1}`}
                loading={isPending}
                notFoundContent={isPending ? null : t('file.none')}
                options={(data?.items ?? []).map(({ id, name: label }) => ({ value: id, label }))}
              />
              <Field name={[name, 'path']} schema={stackFile.shape.path} required={false} rules={[onceRule(name)]} dependencies={['configs']}>
                <Input className="zs-code" prefix="./" placeholder="conf/app.conf" aria-label={`${t('file.path')} ${name + 1}`} />
              </Field>
              <RemoveRow index={name} onRemove={() => remove(name)} />
            </div>
          ))}
          <Form.ErrorList errors={errors} />
          <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= 50} onClick={() => add({ path: '' })}>
            {t('file.add')}
          </Button>
        </div>
      )}
    </Form.List>
  )
}
