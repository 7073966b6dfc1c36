import { edges } from '@zhisuan/contract/ecrm/edge'
import { registryPlace, registryTls } from '@zhisuan/contract/ims/registry'
import Form from 'antd/es/form'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'

const { shape } = registryPlace
const [, given] = registryTls.options

/** Where the platform runs a new registry: only on nodes of its own. */
export function PlaceFields() {
  const { t } = useTranslation('mirror')
  const { data, isPending } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const own = (data?.items ?? []).filter(({ bp_id, status }) => bp_id === null && (status === 'online' || status === 'offline'))
  return (
    <>
      <SelectField<string>
        name={['place', 'node_id']}
        label={t('registry.field.node')}
        extra={t('registry.field.nodeNote')}
        missing={t('registry.field.nodeMissing')}
        loading={isPending}
        showSearch={{ optionFilterProp: 'label' }}
        notFoundContent={t('registry.field.nodeNone')}
        options={own.map(({ id, name, status }) => ({
          value: id,
          label: status === 'online' ? name : t('registry.field.nodeAway', { name }),
          disabled: status !== 'online',
        }))}
      />
      <TextField
        name={['place', 'host']}
        label={t('registry.field.host')}
        extra={t('registry.field.hostNote')}
        schema={shape.host}
        code
        placeholder="registry.example.com"
      />
      <NumberField name={['place', 'port']} label={t('registry.field.port')} schema={shape.port} required />
      <TlsFields at={['place', 'tls']} />
    </>
  )
}

/** By which certificate programs know one that the platform runs. */
export function TlsFields({ at }: { readonly at: readonly string[] }) {
  const { t } = useTranslation('mirror')
  const kind: unknown = Form.useWatch([...at, 'kind']) ?? 'ours'
  return (
    <>
      <RadioField
        name={[...at, 'kind']}
        label={t('registry.field.tls')}
        extra={t(kind === 'given' ? 'registry.field.tlsGivenNote' : 'registry.field.tlsOursNote')}
        optionType="button"
        values={['ours', 'given'] as const}
        labelOf={(one) => t(`registry.field.tlsKind.${one}`)}
      />
      {kind === 'given' && (
        <>
          <TextAreaField
            name={[...at, 'certificate']}
            label={t('registry.field.certificate')}
            extra={t('registry.field.certificateNote')}
            schema={given.shape.certificate}
            rows={3}
            code
            placeholder="-----BEGIN CERTIFICATE-----"
          />
          <TextAreaField
            name={[...at, 'key']}
            label={t('registry.field.key')}
            schema={given.shape.key}
            rows={3}
            code
            placeholder="-----BEGIN PRIVATE KEY-----"
          />
          <TextAreaField
            name={[...at, 'certificate_authority']}
            label={t('registry.field.authority')}
            extra={t('registry.field.authorityNote')}
            schema={given.shape.certificate_authority}
            rows={3}
            code
            placeholder="-----BEGIN CERTIFICATE-----"
          />
        </>
      )}
    </>
  )
}
