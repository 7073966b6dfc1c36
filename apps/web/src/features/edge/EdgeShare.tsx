import Form from 'antd/es/form'
import { edges, shareLimits, sharedWith, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { Field, RadioField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { OrganisationField, OrganisationsSelect } from '../../kit/OrganisationSelect.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import { invalidatedByEdge } from './edgeRules.ts'

type Shared = Pick<Edge, 'id' | 'name' | 'bp_id' | 'bp_name' | 'shared_with' | 'shared_bp_ids' | 'share_limits'>
interface Values {
  bp_id: string | null | undefined
  shared_with: Edge['shared_with']
  shared_bp_ids: string[] | undefined
  share_limits: Edge['share_limits'] | undefined
}

const gib = 2 ** 30
/** To begin with: room for a few small ones. */
const usual = { containers: 5, cpu_cores: 2, memory_bytes: 4 * gib } as const

/** Whose a node is, and with whom the platform shares one of its own. */
export function EdgeShare({ edge, onClose }: Dialog<{ edge: Shared }>) {
  const { t } = useTranslation('edge')
  const [form] = Form.useForm<Values>()
  const owner = Form.useWatch('bp_id', form) ?? null
  const shared = Form.useWatch('shared_with', form) ?? edge.shared_with
  const share = useChange(edges.share, { invalidates: invalidatedByEdge, silent: true })
  const isShared = owner === null && shared !== 'none'
  return (
    <FormDialog<Values>
      form={form}
      title={t('share.title', { name: edge.name })}
      okText={t('save')}
      initialValues={{ bp_id: edge.bp_id, shared_with: edge.shared_with, shared_bp_ids: edge.shared_bp_ids, share_limits: edge.share_limits ?? usual }}
      doneText={t('share.done')}
      onClose={onClose}
      onSubmit={({ bp_id = null, shared_bp_ids = [], share_limits = null }) =>
        share.mutateAsync({
          params: { id: edge.id },
          body: {
            bp_id,
            shared_with: isShared ? shared : 'none',
            shared_bp_ids: isShared && shared === 'named' ? shared_bp_ids : [],
            share_limits: isShared ? share_limits : null,
          },
        })
      }
    >
      <OrganisationField
        name="bp_id"
        label={t('share.owner')}
        extra={t('share.ownerNote')}
        known={edge.bp_id === null ? undefined : { id: edge.bp_id, name: edge.bp_name ?? edge.bp_id }}
      />
      {owner === null && (
        <RadioField
          name="shared_with"
          label={t('share.with')}
          optionType="button"
          options={sharedWith.map((value) => ({ value, label: t(`share.${value}`) }))}
        />
      )}
      {isShared && shared === 'named' && (
        <Form.Item name="shared_bp_ids" label={t('share.organisations')} required>
          <OrganisationsSelect label={t('share.organisations')} known={[]} />
        </Form.Item>
      )}
      {isShared && (
        <>
          <p className="zs-soft">{t('share.limitsNote')}</p>
          <NumberField name={['share_limits', 'containers']} label={t('share.containers')} schema={shareLimits.shape.containers} />
          <NumberField name={['share_limits', 'cpu_cores']} label={t('share.cpu')} schema={shareLimits.shape.cpu_cores} step={0.5} />
          <Field name={['share_limits', 'memory_bytes']} label={t('share.memory')} schema={shareLimits.shape.memory_bytes}>
            <SizeInput />
          </Field>
        </>
      )}
    </FormDialog>
  )
}
