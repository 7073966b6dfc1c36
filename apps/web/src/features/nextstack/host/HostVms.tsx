import type { Host } from '@zhisuan/contract/nextstack/host'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { col } from '../../../kit/columns.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { sizeText } from '../vm/vmColumns.tsx'
import { VmStatusTag } from '../vm/VmStatusTag.tsx'

/** The instances of all organisations on one host. */
export function HostVms({ host }: { readonly host: Pick<Host, 'id'> }) {
  const { t } = useTranslation('hardware')
  const { t: nextstack } = useTranslation('nextstack')
  return (
    <ResourceTable
      name="vms"
      call={vms.list}
      input={{ query: { host_id: host.id } }}
      columns={[
        col.name<Vm>('name', t('vm.name'), (vm) => vm.name, { sort: true, to: (vm) => paths.nextstack.vm.detail(vm.id) }),
        col.custom<Vm>('status', t('vm.status'), (vm) => <VmStatusTag vm={vm} />, { sort: true, width: 116 }),
        col.text<Vm>('size', t('vm.size'), (vm) => sizeText(nextstack, vm), { width: 200 }),
        col.text<Vm>('bp', t('vm.organisation'), (vm) => vm.bp_name, { width: 160 }),
        col.date<Vm>('created_at', t('vm.created'), (vm) => vm.created_at, { sort: true }),
      ]}
      empty={{ title: t('noVms') }}
    />
  )
}
