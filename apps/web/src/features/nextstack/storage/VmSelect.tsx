import Select from 'antd/es/select'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import type { Controlled } from '../../../kit/fields.tsx'

/** Chooses an instance that a volume can be attached to; a control of a form. */
export function VmSelect({
  cloudId,
  bpId,
  content,
  ...control
}: Controlled<string, { cloudId: string | undefined; bpId: string | null; content: Volume['content'] }>) {
  const { t } = useTranslation(['storage', 'nextstack'])
  const { data, isPending } = useCall(vms.list, { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } }, { enabled: cloudId !== undefined })
  // An administrator sees everybody's; a volume goes to its own organisation's only.
  const mine = (data?.items ?? []).filter((vm) => vm.bp_id === bpId && takes(vm, content))
  return (
    <Select
      {...control}
      showSearch={{ optionFilterProp: 'title' }}
      loading={cloudId !== undefined && isPending}
      notFoundContent={isPending ? null : t('attach.noVm')}
      options={mine.map((vm) => ({
        value: vm.id,
        title: vm.name,
        label: t('attach.vmOption', { name: vm.name, state: t(`nextstack:status.${vm.status}`) }),
        disabled: !works(vm),
      }))}
    />
  )
}

/** Containers mount file systems; a disk is of no use to what has no kernel of its own. */
const takes = (vm: Pick<Vm, 'type'>, content: Volume['content']): boolean => content === 'filesystem' || vm.type === 'vm'
const works = (vm: Pick<Vm, 'status'>): boolean => vm.status === 'running' || vm.status === 'stopped'
