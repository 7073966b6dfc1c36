import Select from 'antd/es/select'
import { vmCan, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'

/** As many as a menu shows; more are found by typing. */
const shown = 50

/** Chooses an instance of a cloud, looked for on the server; a control of a form. */
export function VmChoice({
  cloudId,
  any = false,
  ...control
}: {
  readonly cloudId: string
  /** Also those of which no snapshot can be made now. */
  readonly any?: boolean
  readonly id?: string
  readonly value?: string
  readonly onChange?: (id: string) => void
}) {
  const { t } = useTranslation(['snapshot', 'nextstack'])
  const [keyword, setKeyword] = useState('')
  // Stays on the menu, and is called by its name, whatever is looked for afterwards.
  const [chosen, setChosen] = useState<Vm | null>(null)
  const { data, isPending } = useCall(vms.list, { query: { cloud_id: cloudId, page_size: shown, sort: 'name', ...(keyword !== '' && { keyword }) } })
  const works = ({ status }: Vm): boolean => any || (vmCan.snapshot as readonly string[]).includes(status)
  const found = data?.items ?? []
  const offered = chosen === null || found.some(({ id }) => id === chosen.id) ? found : [chosen, ...found]
  return (
    <Select
      {...control}
      onChange={(id: string) => {
        setChosen(offered.find((vm) => vm.id === id) ?? null)
        control.onChange?.(id)
      }}
      showSearch
      filterOption={false}
      onSearch={setKeyword}
      onBlur={() => setKeyword('')}
      loading={isPending}
      notFoundContent={isPending ? null : t('noVm')}
      options={offered.map((vm) => ({
        value: vm.id,
        label: t('vmOption', { name: vm.name, state: t(`nextstack:status.${vm.status}`) }),
        disabled: !works(vm),
      }))}
    />
  )
}
