import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { ActionButton } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { VmAttach } from './AttachDialogs.tsx'
import { isPassing } from './storageRules.ts'
import { useVolumeActions } from './useVolumeActions.tsx'
import { VolumeState } from './VolumeState.tsx'

/** Volumes that an instance has. */
export function VmVolumes({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('storage')
  const cloud = useCloud(vm.cloud_id)
  const { actionsOf } = useVolumeActions(cloud)
  const buttons = (
    <>
      <ActionButton
        look="default"
        action={{ key: 'attach', call: volumes.attach, label: t('vm.attach'), dialog: (close) => <VmAttach vm={vm} onClose={close} /> }}
      />
      <ActionButton
        look="default"
        action={{ key: 'create', call: volumes.create, label: t('vm.create'), href: withQuery(paths.nextstack.volume.add(), { vm: vm.id }) }}
      />
    </>
  )
  return (
    <ResourceTable
      name="volumes"
      call={volumes.list}
      input={{ query: { vm_id: vm.id } }}
      columns={columnsOf(t)}
      rowActions={actionsOf}
      passing={isPassing}
      toolbar={buttons}
      empty={{ title: t('vm.empty'), note: t('vm.emptyNote') }}
    />
  )
}

const columnsOf = (t: TFunction<'storage'>): readonly Column<Volume>[] => [
  col.name('name', t('column.name'), (volume) => volume.name, {
    sort: true,
    to: (volume) => paths.nextstack.volume.detail(volume.id),
    note: (volume) => volume.description,
  }),
  col.custom('status', t('column.status'), (volume) => <VolumeState volume={volume} />, { sort: true, width: 116 }),
  col.code('path', t('column.path'), (volume) => volume.attached_to?.path ?? t('volume.asDisk'), { width: 200 }),
  col.bytes('size_bytes', t('column.size'), (volume) => volume.size_bytes, { sort: true, width: 96 }),
  col.text('pool', t('column.pool'), (volume) => volume.pool, { width: 130, note: (volume) => t(`content.${volume.content}`) }),
  col.date('created_at', t('column.created'), (volume) => volume.created_at, { sort: true }),
]
