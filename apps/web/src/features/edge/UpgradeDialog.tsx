import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import { edges, edgeUpgrades, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { Field } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { invalidatedByEdge } from './edgeRules.ts'

/** Gives a node's agent another version, also a former one. */
export function UpgradeDialog({ edge, onClose }: Dialog<{ edge: Pick<Edge, 'id' | 'name' | 'agent_version'> }>) {
  const { t } = useTranslation('edge')
  const upgrade = useChange(edgeUpgrades.upgrade, { invalidates: [...invalidatedByEdge, edges.get], silent: true })
  const { data, error, isPending } = useCall(edgeUpgrades.versions, {}, { silent: true })
  const others = (data?.items ?? []).filter(({ version }) => version !== edge.agent_version)
  const note =
    error !== null && data === undefined
      ? errorText(error)
      : !isPending && others.length === 0
        ? t('upgrade.none')
        : t('upgrade.now', { version: edge.agent_version ?? format.nothing })
  return (
    <FormDialog<{ version: string; confirm: 'auto' | 'manual' }>
      title={t('upgrade.title', { name: edge.name })}
      okText={t('upgrade.ok')}
      initialValues={{ confirm: 'auto' }}
      doneText={t('upgrade.begun', { name: edge.name })}
      onClose={onClose}
      onSubmit={(body) => upgrade.mutateAsync({ params: { id: edge.id }, body })}
    >
      <Field name="version" label={t('upgrade.version')} extra={note} missing={t('upgrade.versionPlaceholder')}>
        <Select
          loading={isPending}
          placeholder={t('upgrade.versionPlaceholder')}
          options={others.map(({ version, released_at, size_bytes }) => ({
            value: version,
            label: t('upgrade.option', { version, date: format.date(released_at), size: format.bytes(size_bytes) }),
          }))}
        />
      </Field>
      <Form.Item name="confirm" label={t('upgrade.confirm')} extra={t('upgrade.confirmNote')}>
        <Radio.Group
          options={[
            { value: 'auto', label: t('upgrade.auto') },
            { value: 'manual', label: t('upgrade.manual') },
          ]}
        />
      </Form.Item>
    </FormDialog>
  )
}
