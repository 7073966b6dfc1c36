import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import AutoComplete from 'antd/es/auto-complete'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { preheats, thirdRegistries, type Preheat, type ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import { repositories } from '@zhisuan/contract/ims/project'
import { registries } from '@zhisuan/contract/ims/registry'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { MomentInput } from '../../kit/dates.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { useMayCall } from '../../session/user.ts'
import { invalidatedByPreheat } from './preheatRules.ts'
import { registryOptions } from './registryRules.ts'
import './registry.css'

interface Values {
  registry_id?: string
  images: { repository: string; tag: string }[]
  nodes: { node_ids: string[]; labels: string[] }
  at_once: number
  starts_at?: string
}
const { shape } = preheats.create.body
const image = shape.images.element.shape
const imagesMost = 20

/** Has images brought to nodes: of a registry of the platform, or of a third party's. */
export default function PreheatDialog({ third, onClose }: Dialog<{ third: ThirdRegistry | null }>) {
  const { t } = useTranslation('mirror')
  const [form] = Form.useForm<Values>()
  const create = useChange(preheats.create, { invalidates: invalidatedByPreheat, silent: true })
  const createThird = useChange(preheats.createThird, { invalidates: invalidatedByPreheat, silent: true })
  const { data } = useCall(registries.regions, {}, { silent: true, enabled: third === null })
  const id = Form.useWatch('registry_id', form) ?? null
  const seesAll = useMayCall(preheats.nodes)
  const anyNodes = useCall(preheats.nodes, { params: { id: id ?? '' }, query: { page_size: 1000 } }, { silent: true, enabled: third === null && id !== null })
  const ownNodes = useCall(thirdRegistries.nodes, { query: { page_size: 1000 } }, { silent: true, enabled: third !== null })
  const nodes = (third === null ? anyNodes : ownNodes).data?.items ?? []
  const labels = [...new Set((anyNodes.data?.items ?? []).flatMap((one) => one.labels))].toSorted()
  return (
    <FormDialog<Values, Preheat>
      form={form}
      width={680}
      title={third === null ? t('preheat.create') : t('preheat.createFrom', { name: third.name })}
      okText={t('preheat.create')}
      initialValues={{ images: [{ repository: '', tag: 'latest' }], nodes: { node_ids: [], labels: [] }, at_once: 3 }}
      doneText={t('preheat.begun')}
      onClose={onClose}
      onSubmit={({ registry_id = '', starts_at = '', ...rest }) => {
        const body = { ...rest, ...(starts_at !== '' && { starts_at }) }
        return third === null ? create.mutateAsync({ params: { id: registry_id }, body }) : createThird.mutateAsync({ params: { id: third.id }, body })
      }}
    >
      {third === null && (
        <SelectField<string>
          name="registry_id"
          label={t('project.registry')}
          missing={t('preheat.registryMissing')}
          options={registryOptions(data?.items ?? [], t('registry.everywhere'))}
        />
      )}
      <Form.Item label={t('preheat.images')} required>
        <Form.List name="images">
          {(rows, { add, remove }) => (
            <div className="zs-rows">
              {rows.map(({ key, name }) => (
                <div key={key} className="zs-row rg-row-image" role="group" aria-label={`${t('column.image')} ${name + 1}`}>
                  <RepositoryField at={name} registryId={id} third={third} />
                  <TextField name={[name, 'tag']} schema={image.tag} code aria-label={`${t('preheat.tag')} ${name + 1}`} placeholder={t('preheat.tag')} />
                  <RemoveRow index={name} onRemove={() => remove(name)} />
                </div>
              ))}
              <div className="zs-buttons">
                <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= imagesMost} onClick={() => add({ repository: '', tag: 'latest' })}>
                  {t('preheat.addImage')}
                </Button>
              </div>
            </div>
          )}
        </Form.List>
      </Form.Item>
      <SelectField<string[]>
        name={['nodes', 'node_ids']}
        label={t('preheat.nodes')}
        mode="multiple"
        showSearch={{ optionFilterProp: 'label' }}
        placeholder={t('preheat.nodesPlaceholder')}
        options={nodes.map((one) => ({
          value: one.id,
          label: one.online ? (one.docker ? one.name : t('preheat.noDocker', { name: one.name })) : t('registry.field.nodeAway', { name: one.name }),
        }))}
        extra={t('preheat.nodesNote')}
      />
      {third === null && seesAll && (
        <SelectField<string[]>
          name={['nodes', 'labels']}
          label={t('preheat.labels')}
          mode="tags"
          placeholder={t('preheat.labelsPlaceholder')}
          options={labels.map((value) => ({ value, label: value }))}
        />
      )}
      <NumberField name="at_once" label={t('preheat.atOnce')} extra={t('preheat.atOnceNote')} schema={shape.at_once} required />
      <Field name="starts_at" label={t('preheat.startsAt')} extra={t('preheat.startsAtNote')}>
        <MomentInput />
      </Field>
    </FormDialog>
  )
}

/** Typed, or one of those that the registry has. */
function RepositoryField({ at, registryId, third }: { readonly at: number; readonly registryId: string | null; readonly third: ThirdRegistry | null }) {
  const { t } = useTranslation('mirror')
  const [typed, setTyped] = useState('')
  const own = useCall(
    repositories.all,
    { params: { id: registryId ?? '' }, query: { page_size: 50, ...(typed !== '' && { keyword: typed.split('/').at(-1) ?? '' }) } },
    { silent: true, enabled: registryId !== null },
  )
  const theirs = useCall(
    thirdRegistries.repositories,
    { params: { id: third?.id ?? '' }, query: typed === '' ? {} : { keyword: typed } },
    { silent: true, enabled: third?.browsable === true },
  )
  const there = third === null ? (own.data?.items ?? []).map(({ project, name }) => `${project.name}/${name}`) : (theirs.data?.items ?? []).slice(0, 50)
  return (
    <Field name={[at, 'repository']} schema={image.repository}>
      <AutoComplete
        className="zs-code"
        aria-label={`${t('column.image')} ${at + 1}`}
        placeholder={t(third === null ? 'preheat.repositoryPlaceholder' : 'preheat.theirsPlaceholder')}
        options={there.map((value) => ({ value }))}
        showSearch={{ onSearch: setTyped }}
      />
    </Field>
  )
}
