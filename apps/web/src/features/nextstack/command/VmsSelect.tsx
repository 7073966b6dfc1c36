import { useQueries } from '@tanstack/react-query'
import Select from 'antd/es/select'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { useDeferredValue, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { request } from '../../../api/client.ts'
import { useCall } from '../../../api/hooks.ts'
import { usableAddresses } from '../vm/vmAddresses.ts'
import { vmsMax } from './commandState.ts'
import type { Controlled } from '../../../kit/fields.tsx'

/** As many as fit a list that is looked through; others are searched. */
const listed = 100

/** Running instances of the cloud, several of them. */
export function VmsSelect({ id, cloudId, value = [], onChange }: Controlled<readonly string[], { cloudId: string | undefined }>) {
  const { t } = useTranslation('nextstackCompute')
  const [text, setText] = useState('')
  const keyword = useDeferredValue(text.trim())
  const { data, isFetching } = useCall(
    vms.list,
    { query: { cloud_id: cloudId, status: 'running', page_size: listed, sort: 'name', ...(keyword !== '' && { keyword }) } },
    { silent: true, enabled: cloudId !== undefined, refreshMs: 5_000 },
  )
  const found = data?.items ?? []
  // Chosen, and not among those that were found: by an address, or with another search.
  const others = useQueries({
    queries: value
      .filter((one) => data !== undefined && !found.some((vm) => vm.id === one))
      .map((one) => ({
        queryKey: [vms.get.id, { params: { id: one } }],
        queryFn: ({ signal }: { signal: AbortSignal }) => request(vms.get, { params: { id: one }, signal }),
        meta: { silent: true },
        retry: false,
      })),
  }).flatMap(({ data: vm }) => vm ?? [])
  return (
    <Select<string[]>
      {...(id !== undefined && { id })}
      mode="multiple"
      maxCount={vmsMax}
      allowClear
      showSearch={{ filterOption: false, onSearch: setText, searchValue: text }}
      loading={isFetching && data === undefined}
      placeholder={t('command.vmsSearch')}
      notFoundContent={data === undefined ? null : t('command.vmsNone')}
      value={[...value]}
      options={[...found, ...others].map((vm) => ({ value: vm.id, label: vm.name, address: usableAddresses(vm)[0]?.address ?? '' }))}
      optionRender={({ data: { label, address } }) => (
        <>
          {label} <span className="zs-soft zs-code">{address}</span>
        </>
      )}
      onChange={(ids) => onChange?.(ids)}
    />
  )
}
