import type { Vm } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { col, type Column } from '../../../kit/columns.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { VmAddresses } from './VmAddresses.tsx'
import { VmStatusTag } from './VmStatusTag.tsx'

/** `2 核 / 4 GB / 40 GB`, as people compare sizes. */
export const sizeText = (t: TFunction<'nextstack'>, of: Pick<Vm, 'cpu_cores' | 'memory_bytes' | 'disk_bytes'>): string =>
  t('size', { cores: of.cpu_cores, memory: format.bytes(of.memory_bytes), disk: format.bytes(of.disk_bytes) })

/** @param organisations whether rows of several organisations meet here */
export const vmColumns = (t: TFunction<'nextstack'>, organisations: boolean): readonly Column<Vm>[] => [
  col.name('name', t('column.name'), (vm) => vm.name, {
    sort: true,
    to: (vm) => paths.nextstack.vm.detail(vm.id),
    note: (vm) => vm.description,
  }),
  col.custom('status', t('column.status'), (vm) => <VmStatusTag vm={vm} />, { sort: true, width: 96 }),
  col.text('image', t('column.image'), (vm) => vm.image.name, { width: 112, note: (vm) => t(`type.${vm.type}`) }),
  col.custom(
    'size',
    t('column.flavor'),
    (vm) => (
      <div className="zs-nowrap">
        {vm.flavor.name}
        <div className="zs-name-note zs-number">{sizeText(t, vm)}</div>
      </div>
    ),
    { width: 144 },
  ),
  col.custom('addresses', t('column.addresses'), (vm) => <VmAddresses vm={vm} />, { width: 152 }),
  col.organisation<Vm>(t('column.organisation'), { when: organisations }),
  col.text('created_by', t('column.creator'), (vm) => vm.created_by, { width: 110, off: true }),
  col.text('node', t('column.node'), (vm) => vm.node, { width: 130, off: true }),
  col.date('created_at', t('column.created'), (vm) => vm.created_at, { sort: true }),
]
