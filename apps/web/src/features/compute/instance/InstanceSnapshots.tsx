import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeImages, type ComputeImage, type ComputeImageStatus } from '@zhisuan/contract/compute/image'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import type { TFunction } from 'i18next'
import { lazy } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useDialog } from '../../../kit/dialogs.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { CloudTable } from '../CloudTable.tsx'
import { whyNotInstance } from './instanceRules.ts'
import { AttachButton } from './InterfacesTab.tsx'

const InstanceDialog = lazy(() => import('./InstanceDialog.tsx').then((module) => ({ default: module.InstanceDialog })))

const tones: Readonly<Record<ComputeImageStatus, StatusTone>> = {
  queued: 'busy',
  saving: 'busy',
  uploading: 'busy',
  importing: 'busy',
  active: 'good',
  killed: 'bad',
  deleted: 'rest',
  pending_delete: 'rest',
  deactivated: 'warning',
}
const isMaking = ({ status }: ComputeImage): boolean => tones[status] === 'busy'

/** Images that were made from an instance. */
export function InstanceSnapshots({ instance, cloud }: { readonly instance: ComputeInstance; readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const openDialog = useDialog()
  return (
    <CloudTable
      name="snapshots"
      call={computeImages.list}
      cloudId={cloud.cloud_id}
      only={(image) => image.instance_id === instance.id}
      columns={() => snapshotColumns(t)}
      textOf={(image) => `${image.name} ${image.id}`}
      sortBy={{ name: ({ name }) => name, created: ({ created_at }) => created_at }}
      sortFirst="-created"
      passing={isMaking}
      rowActions={(image) => [
        {
          key: 'use',
          call: computeInstances.create,
          label: t('snapshots.use'),
          href: withQuery(paths.compute.instance.add(), { image: image.id }),
          disabledReason: image.status === 'active' ? null : t('snapshots.notYet'),
        },
      ]}
      toolbar={
        <AttachButton
          off={whyNotInstance(t, 'snapshot', instance, cloud)}
          text={t('action.snapshot')}
          onClick={() => openDialog((close) => <InstanceDialog kind="snapshot" instance={instance} cloud={cloud} onClose={close} />)}
        />
      }
      empty={{ title: t('snapshots.empty'), note: t('snapshots.emptyNote') }}
    />
  )
}

const snapshotColumns = (t: TFunction<'computeInstance'>): readonly Column<ComputeImage>[] => [
  col.name('name', t('snapshots.column.name'), (image) => image.name, { sort: true, to: (image) => paths.compute.instanceSnapshot.detail(image.id) }),
  col.status('status', t('snapshots.column.status'), (image) => ({ tone: tones[image.status], text: t(`snapshots.status.${image.status}`) }), { width: 110 }),
  col.bytes('size', t('snapshots.column.size'), (image) => image.size_bytes, { width: 110 }),
  col.date('created', t('snapshots.column.created'), (image) => image.created_at, { sort: true }),
]
