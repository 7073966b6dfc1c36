import AutoComplete from 'antd/es/auto-complete'
import { hosts } from '@zhisuan/contract/nextstack/host'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'

/** A GPU's model as hosts name it: chosen among those there are, or typed before they are. */
export function GpuModelInput({ id, value, onChange }: { readonly id?: string; readonly value?: string; readonly onChange?: (model: string) => void }) {
  const { t } = useTranslation('nextstackCompute')
  const { data } = useCall(hosts.gpuModels, {}, { silent: true })
  return (
    <AutoComplete
      {...(id !== undefined && { id })}
      {...(value !== undefined && { value })}
      {...(onChange !== undefined && { onChange })}
      options={(data?.items ?? []).map(({ model, count, used }) => ({ value: model, label: t('flavor.gpuOption', { model, count, used }) }))}
      showSearch={{ filterOption: (typed, option) => (option?.value ?? '').toLowerCase().includes(typed.toLowerCase()) }}
    />
  )
}
