import Select from 'antd/es/select'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { useCall } from '../../../api/hooks.ts'
import type { Controlled } from '../../../kit/fields.tsx'

/** Chooses security groups of one organisation on a cloud; a control of a form. */
export function GroupSelect({ cloudId, bpId, ...control }: Controlled<string[], { cloudId: string; bpId: string | null }>) {
  const { data, isPending } = useCall(securityGroups.list, { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } })
  // An administrator sees everybody's; what is guarded takes its own organisation's only.
  const options = (data?.items ?? [])
    .filter((group) => group.bp_id === bpId)
    .map(({ id, name, description }) => ({ value: id, label: name, title: description }))
  return <Select {...control} mode="multiple" maxCount={10} loading={isPending} options={options} optionFilterProp="label" />
}
