import type { ComputeInstance } from '@zhisuan/contract/compute/instance'
import type { TFunction } from 'i18next'
import { col, type Column } from '../../../kit/columns.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { InstanceAddresses } from './InstanceAddresses.tsx'
import { codeText } from './instanceRules.ts'
import { InstanceStateTag } from './InstanceState.tsx'

/** `2核 / 4 GB / 40 GB`, as people compare sizes. */
export const sizeText = (t: TFunction<'computeInstance'>, of: { readonly vcpus: number; readonly memory_bytes: number; readonly disk_bytes: number }): string =>
  t('size', { vcpus: of.vcpus, memory: format.bytes(of.memory_bytes), disk: of.disk_bytes === 0 ? t('add.diskOfImage') : format.bytes(of.disk_bytes) })

/** @param platform whether it is shown to who runs the platform: where instances are, and whose */
export const instanceColumns = (
  t: TFunction<'computeInstance'>,
  name: (id: string | null) => string,
  platform: boolean,
): readonly Column<ComputeInstance>[] => [
  col.name('name', t('column.name'), (one) => one.name, { sort: true, to: (one) => paths.compute.instance.detail(one.id), note: (one) => one.description }),
  col.custom('state', t('column.state'), (one) => <InstanceStateTag instance={one} />, { sort: true, width: 116 }),
  col.custom('addresses', t('column.addresses'), (one) => <InstanceAddresses addresses={one.addresses} />, { sort: true, width: 152 }),
  col.text('image', t('column.image'), (one) => (one.image_id === null ? t('fromVolume') : name(one.image_id)), { width: 120 }),
  col.custom('flavor', t('column.flavor'), (one) => (one.flavor === null ? format.nothing : <Size t={t} flavor={one.flavor} />), { sort: true, width: 144 }),
  col.text('zone', t('column.zone'), (one) => one.zone, { sort: true, width: 96 }),
  col.text('host', t('column.host'), (one) => one.host, { when: platform, sort: true, width: 120 }),
  col.text('project', t('column.project'), (one) => name(one.keystone_project_id), { when: platform, width: 120 }),
  col.text('nova', t('column.nova'), (one) => [one.vm_state, one.task_state].filter((word) => word !== null).join(' / '), {
    when: platform,
    width: 140,
    off: true,
  }),
  col.text('project', t('column.project'), (one) => name(one.keystone_project_id), { when: !platform, width: 120, off: true }),
  col.text('code', t('column.code'), (one) => codeText(t, one.code), { width: 96, off: true }),
  col.text('groups', t('column.groups'), (one) => one.security_groups.join('、'), { width: 140, off: true }),
  col.text('key', t('column.key'), (one) => name(one.key_name), { width: 120, off: true }),
  col.tags('tags', t('column.tags'), (one) => one.tags, { width: 160, off: true }),
  col.date('created', t('column.created'), (one) => one.created_at, { sort: true }),
  col.code('id', t('column.id'), (one) => one.id, { width: 280, off: true }),
]

function Size({ t, flavor }: { readonly t: TFunction<'computeInstance'>; readonly flavor: NonNullable<ComputeInstance['flavor']> }) {
  return (
    <div className="zs-nowrap">
      <span className="zs-cut" title={flavor.name} style={{ maxWidth: 150 }}>
        {flavor.name}
      </span>
      <div className="zs-name-note zs-number">{sizeText(t, flavor)}</div>
    </div>
  )
}
