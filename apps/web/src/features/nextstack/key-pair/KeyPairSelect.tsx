import Select from 'antd/es/select'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { useCall } from '../../../api/hooks.ts'
import '../../../kit/form.css'

/** Chooses keys of the organisation; a control of a form. */
export function KeyPairSelect(control: { readonly id?: string; readonly value?: string[]; readonly onChange?: (ids: string[]) => void }) {
  const { data, isPending } = useCall(keyPairs.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const options = (data?.items ?? []).map(({ id, name, algorithm }) => ({ value: id, label: name, title: algorithm }))
  return <Select {...control} mode="multiple" maxCount={10} loading={isPending} options={options} optionFilterProp="label" className="zs-field" />
}
