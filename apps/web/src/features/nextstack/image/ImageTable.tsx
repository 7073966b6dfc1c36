import Tag from 'antd/es/tag'
import { imageLibrary, imageStatuses, type Image } from '@zhisuan/contract/nextstack/image'
import { vmTypes } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { ImageDrawer } from './ImageDrawer.tsx'
import { pathsOf, isPassing } from './imageRules.ts'
import { ImageState } from './ImageState.tsx'
import { useImageActions } from './useImageActions.tsx'

/** Images of the chosen cloud: everybody's, or the organisation's and those that are shared with it. */
export function ImageTable({ visibility }: { readonly visibility: Image['visibility'] }) {
  const { t } = useTranslation('image')
  const platform = useIsPlatform()
  const cloud = useNextStackCloud()
  const { actionsOf, batchActions } = useImageActions(cloud)
  return (
    <NextStackPage>
      <ResourceTable
        call={imageLibrary.list}
        input={{ query: { cloud_id: cloud?.cloud_id, visibility } }}
        enabled={cloud !== null}
        columns={[
          col.name<Image>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: (image) => pathsOf(image, platform).detail(image.id),
            note: ({ description }) => description,
          }),
          col.custom<Image>('status', t('column.status'), (image) => <ImageState image={image} />, { sort: true, width: 120 }),
          col.text<Image>('os', t('column.os'), ({ os, release }) => [os, release].filter((part) => part !== null).join(' '), { width: 110 }),
          col.text<Image>('type', t('column.type'), ({ type }) => t(`type.${type}`), { width: 84 }),
          col.text<Image>('architecture', t('column.architecture'), ({ architecture }) => architecture, { width: 90, off: true }),
          col.bytes<Image>('size_bytes', t('column.size'), ({ size_bytes }) => size_bytes, { sort: true, width: 88 }),
          col.text<Image>('source', t('column.source'), ({ source }) => t(`source.${source}`), { width: 84 }),
          col.custom<Image>('shared', t('column.shared'), (image) => <Shared image={image} />, { when: visibility === 'private', width: 90 }),
          col.number<Image>('vms', t('column.vms'), ({ vm_count }) => vm_count, { width: 70 }),
          col.organisation<Image>(t('column.organisation'), { when: platform, width: 110 }),
          col.text<Image>('created_by', t('column.creator'), ({ created_by }) => created_by, { width: 100, off: true }),
          col.date<Image>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[
          filter.oneOf('status', t('column.status'), imageStatuses, (value) => t(`status.${value}`)),
          filter.oneOf('type', t('column.type'), vmTypes, (value) => t(`type.${value}`)),
          filter.keyword(t('filter.keyword')),
        ]}
        rowActions={actionsOf}
        batchActions={batchActions}
        passing={isPassing}
        create={{
          call: imageLibrary.upload,
          label: t('create.button'),
          dialog: (close) => cloud !== null && <ImageDrawer cloud={cloud} visibility={visibility} onClose={close} />,
        }}
        empty={{ title: t(`empty.${visibility}`, { cloud: cloud?.name ?? '' }), note: t(`emptyNote.${visibility}`) }}
      />
    </NextStackPage>
  )
}

function Shared({ image: { mine, bp_name, shared_with } }: { readonly image: Image }) {
  const { t } = useTranslation('image')
  if (!mine) return <Tag title={bp_name ?? ''}>{t('shared.with')}</Tag>
  return shared_with.length === 0 ? (
    format.nothing
  ) : (
    <span title={shared_with.map(({ name }) => name).join('、')}>{t('shared.count', { count: shared_with.length })}</span>
  )
}
