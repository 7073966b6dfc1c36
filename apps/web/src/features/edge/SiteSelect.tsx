import Select from 'antd/es/select'
import { sites } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import type { Controlled } from '../../kit/fields.tsx'

/** Chooses the site that a node stands in; a control of a form. */
export function SiteSelect({ value, onChange, ...control }: Controlled<string | null>) {
  const { t } = useTranslation('edge')
  const { data, isPending } = useCall(sites.list, { query: { page_size: 1000, sort: 'name' } })
  return (
    <Select<string>
      {...control}
      {...(value !== null && value !== undefined && { value })}
      allowClear
      showSearch={{ optionFilterProp: 'label' }}
      loading={isPending}
      placeholder={t('field.sitePlaceholder')}
      options={(data?.items ?? []).map(({ id, name, region }) => ({ value: id, label: `${region.name} / ${name}` }))}
      onChange={(id: string | undefined) => onChange?.(id ?? null)}
    />
  )
}
