import { computeImages, computeImageStatuses, computeImageTransitional, type ComputeImage } from '@zhisuan/contract/compute/image'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { imageSources, sourceOf } from './imageRules.ts'
import { ImageState } from './ImageState.tsx'
import { useImageActions } from './useImageActions.tsx'

/** Images of the chosen cloud: those that people brought, or those that were made from instances. */
export function ImageTable({ cloud, snapshots }: { readonly cloud: CloudBasic | null; readonly snapshots: boolean }) {
  const { t } = useTranslation('computeImage')
  const platform = useIsPlatform()
  const cloudId = cloud?.cloud_id ?? ''
  const { actionsOf } = useImageActions(cloudId)
  const pages = snapshots ? paths.compute.instanceSnapshot : paths.compute.image
  const columns = (name: (id: string | null) => string): readonly Column<ComputeImage>[] => [
    col.name('name', t('column.name'), (image) => (image.name === '' ? image.id : image.name), {
      sort: true,
      to: (image) => pages.detail(image.id),
      note: (image) => (image.offer === 'pending' ? t('offerPending') : ''),
    }),
    col.custom('status', t('column.status'), (image) => <ImageState image={image} />, { width: 130 }),
    col.text('source', t('column.source'), (image) => t(`source.${sourceOf(image)}`), { width: 110 }),
    col.text('instance', t('column.instance'), ({ instance_id }) => instance_id, {
      when: snapshots,
      to: ({ instance_id }) => (instance_id === null ? null : paths.compute.instance.detail(instance_id)),
      width: 180,
    }),
    col.text(
      'distribution',
      t('column.distribution'),
      (image) => image.distribution ?? (image.os_type === 'linux' || image.os_type === 'windows' ? t(`osType.${image.os_type}`) : image.os_type),
      { when: !snapshots, sort: true, width: 110 },
    ),
    col.text('format', t('column.format'), (image) => image.disk_format?.toUpperCase(), { width: 80 }),
    col.bytes('size', t('column.size'), (image) => image.size_bytes, { sort: true, width: 110 }),
    col.bytes('min_disk', t('field.minDisk'), (image) => (image.min_disk_bytes === 0 ? null : image.min_disk_bytes), { width: 110, off: true }),
    col.bytes('min_memory', t('field.minMemory'), (image) => (image.min_memory_bytes === 0 ? null : image.min_memory_bytes), { width: 110, off: true }),
    col.text('visibility', t('column.visibility'), (image) => t(`visibility.${image.visibility}`), { width: 100, off: true }),
    col.text('protected', t('field.protected'), (image) => t(image.protected ? 'yes' : 'no'), { width: 80, off: true }),
    col.text('project', t('column.project'), (image) => name(image.keystone_project_id), { when: platform, width: 160 }),
    col.code('id', t('column.id'), (image) => image.id, { width: 280, off: true }),
    col.date('created', t('column.created'), (image) => image.created_at, { sort: true }),
  ]
  return (
    <>
      <CloudTable
        call={computeImages.list}
        cloudId={cloud?.cloud_id ?? null}
        only={(image) => image.snapshot === snapshots}
        passing={(image) => computeImageTransitional.includes(image.status)}
        columns={columns}
        filters={[
          filter.oneOf('source', t('column.source'), imageSources, (value) => t(`source.${value}`)),
          filter.oneOf(
            'status',
            t('column.status'),
            computeImageStatuses.filter((one) => one !== 'deleted'),
            (value) => t(`status.${value}`),
          ),
          filter.keyword(t('keyword')),
        ]}
        textOf={(image) => `${image.name} ${image.id} ${image.distribution ?? ''} ${image.tags.join(' ')}`}
        matches={{ source: (image, value) => sourceOf(image) === value, status: (image, value) => image.status === value }}
        sortBy={{
          name: ({ name }) => name,
          size: ({ size_bytes }) => size_bytes ?? 0,
          distribution: ({ distribution }) => distribution ?? '',
          created: ({ created_at }) => created_at,
        }}
        sortFirst="-created"
        rowActions={actionsOf}
        nameOf={({ name }) => name}
        create={snapshots ? null : { call: computeImages.create, label: t('add.action'), href: paths.compute.image.add() }}
        empty={{ title: t(snapshots ? 'snapshotsEmpty' : 'empty'), note: t(snapshots ? 'snapshotsEmptyNote' : 'emptyNote') }}
      />
    </>
  )
}
