import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Table from 'antd/es/table'
import { keepRule, registryProjects, type KeepRule } from '@zhisuan/contract/ims/project'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { col } from '../../kit/columns.tsx'
import * as format from '../../kit/format.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import './registry.css'

const { shape } = keepRule
const rulesMax = 10
type Preview = ResponseOf<typeof registryProjects.keepPreview>

const typed = { mode: 'tags', open: false, suffixIcon: null, tokenSeparators: [',', '，', ' '] as string[] } as const

/** Which tags stay; of a project that is there, with what they would take away now. */
export function KeepRuleFields({ at }: { readonly at: { readonly id: string; readonly pid: string } | null }) {
  const { t } = useTranslation('mirror')
  const form = Form.useFormInstance<{ keep_rules: KeepRule[] }>()
  const rules = Form.useWatch('keep_rules', form)
  return (
    <Form.Item label={t('keep.title')} extra={<span className="zs-hint">{t('keep.note')}</span>}>
      <Form.List name="keep_rules">
        {(rows, { add, remove }) => (
          <div className="zs-rows">
            {rows.map(({ key, name }) => (
              <div key={key} className="zs-row rg-row-keep" role="group" aria-label={t('keep.rule', { number: name + 1 })}>
                <SelectField<string[]>
                  {...typed}
                  name={[name, 'repositories']}
                  schema={shape.repositories}
                  required={false}
                  placeholder={t('keep.repositories')}
                  aria-label={`${t('keep.repositories')} ${name + 1}`}
                />
                <SelectField<string[]>
                  {...typed}
                  name={[name, 'tags']}
                  schema={shape.tags}
                  required={false}
                  placeholder={t('keep.tags')}
                  aria-label={`${t('keep.tags')} ${name + 1}`}
                />
                <NumberField
                  name={[name, 'newest']}
                  schema={shape.newest}
                  required={false}
                  prefix={t('keep.newest')}
                  suffix={t('keep.pieces')}
                  aria-label={`${t('keep.newestLabel')} ${name + 1}`}
                />
                <NumberField
                  name={[name, 'days']}
                  schema={shape.days}
                  required={false}
                  prefix={t('keep.within')}
                  suffix={t('days')}
                  aria-label={`${t('keep.withinLabel')} ${name + 1}`}
                />
                <RemoveRow index={name} onRemove={() => remove(name)} />
              </div>
            ))}
            <div className="zs-buttons">
              <Button
                icon={<PlusOutlined aria-hidden />}
                disabled={rows.length >= rulesMax}
                onClick={() => add({ repositories: ['*'], tags: ['*'], newest: 10, days: null })}
              >
                {t('keep.add')}
              </Button>
              {at !== null && rows.length > 0 && <PreviewButton key={JSON.stringify(rules)} at={at} rules={() => form.getFieldValue('keep_rules')} />}
            </div>
          </div>
        )}
      </Form.List>
    </Form.Item>
  )
}

/** What was answered is about the rules as they were asked: it goes when they change. */
function PreviewButton({ at, rules }: { readonly at: { readonly id: string; readonly pid: string }; readonly rules: () => KeepRule[] }) {
  const { t } = useTranslation('mirror')
  const form = Form.useFormInstance()
  const preview = useChange(registryProjects.keepPreview, { silent: true })
  const [shown, setShown] = useState<Preview | null>(null)
  const ask = async (): Promise<void> => {
    const right = await form.validateFields(['keep_rules'], { recursive: true }).then(
      () => true,
      () => false,
    )
    if (!right) return
    preview.mutate({ params: at, body: { keep_rules: rules() } }, { onSuccess: setShown })
  }
  return (
    <>
      <Button loading={preview.isPending} onClick={() => void ask()}>
        {t('keep.preview')}
      </Button>
      <div className="rg-preview" role="status">
        {preview.error !== null && <Alert type="error" showIcon title={errorText(preview.error)} />}
        {shown !== null && (
          <>
            <Alert
              type={shown.tag_count === 0 ? 'success' : 'warning'}
              showIcon
              title={
                shown.tag_count === 0
                  ? t('keep.nothing', { kept: shown.kept_count })
                  : t('keep.would', { count: shown.tag_count, size: format.bytes(shown.size_bytes), kept: shown.kept_count })
              }
            />
            {shown.items.length > 0 && (
              <Table<Preview['items'][number]>
                size="small"
                rowKey={({ repository, tag }) => `${repository}:${tag}`}
                pagination={{ size: 'small', pageSize: 5, hideOnSinglePage: true, showSizeChanger: false }}
                dataSource={shown.items}
                columns={[
                  col.code<Preview['items'][number]>('image', t('column.image'), ({ repository, tag }) => `${repository}:${tag}`),
                  col.date<Preview['items'][number]>('pushed', t('column.pushed'), ({ pushed_at }) => pushed_at),
                ]}
              />
            )}
          </>
        )}
      </div>
    </>
  )
}
