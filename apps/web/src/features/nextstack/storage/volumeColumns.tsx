import type { Volume } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { col, type Column } from '../../../kit/columns.tsx'
import { paths } from '../../../paths.ts'
import { AttachedTo, VolumeState } from './VolumeState.tsx'

/** @param organisations whether rows of several organisations meet here */
export const volumeColumns = (t: TFunction<'storage'>, organisations: boolean): readonly Column<Volume>[] => [
  col.name('name', t('column.name'), (volume) => volume.name, {
    sort: true,
    to: (volume) => paths.nextstack.volume.detail(volume.id),
    note: (volume) => volume.description,
  }),
  col.custom('status', t('column.status'), (volume) => <VolumeState volume={volume} />, { sort: true, width: 116 }),
  col.custom('attached', t('column.attached'), (volume) => <AttachedTo volume={volume} />, { width: 160 }),
  col.bytes('size_bytes', t('column.size'), (volume) => volume.size_bytes, { sort: true, width: 96 }),
  col.text('pool', t('column.pool'), (volume) => volume.pool, { width: 114, note: (volume) => t(`content.${volume.content}`) }),
  col.number('snapshots', t('column.snapshots'), (volume) => volume.snapshot_count, { width: 72 }),
  col.organisation<Volume>(t('column.organisation'), { when: organisations }),
  col.text('creator', t('column.creator'), (volume) => volume.created_by, { width: 110, off: true }),
  col.code('id', t('column.id'), (volume) => volume.id, { width: 160, off: true }),
  col.date('created_at', t('column.created'), (volume) => volume.created_at, { sort: true }),
]
