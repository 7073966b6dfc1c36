import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { useTranslation } from '../../../i18n.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { FlavorDrawer } from './FlavorDrawer.tsx'
import { gpuText, visibilityText } from './flavorTexts.ts'
import { useFlavorActions } from './useFlavorActions.tsx'

/** The sizes that instances come in, and who may choose them. */
export default function FlavorList() {
  const { t } = useTranslation('nextstackCompute')
  const actionsOf = useFlavorActions()
  return (
    <>
      <ResourceTable
        call={flavors.list}
        columns={[
          col.name<Flavor>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => paths.nextstack.flavor.detail(id),
            note: ({ description }) => description,
          }),
          col.text<Flavor>('cpu', t('flavor.column.cpu'), ({ cpu_cores }) => t('cores', { count: cpu_cores }), { sort: 'cpu_cores', width: 90 }),
          col.bytes<Flavor>('memory', t('flavor.column.memory'), ({ memory_bytes }) => memory_bytes, { sort: 'memory_bytes', width: 100 }),
          col.bytes<Flavor>('disk', t('flavor.column.disk'), ({ disk_bytes }) => disk_bytes, { width: 110 }),
          col.text<Flavor>('gpu', t('flavor.column.gpu'), (flavor) => gpuText(t, flavor), { width: 180 }),
          col.text<Flavor>('visibility', t('flavor.column.visibility'), (flavor) => visibilityText(t, flavor), { width: 110 }),
          col.number<Flavor>('vms', t('column.vms'), ({ vm_count }) => vm_count, { width: 90 }),
          col.date<Flavor>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[
          filter.oneOf('public', t('flavor.filter.public'), ['true', 'false'], (value) => t(`flavor.filterPublic.${value}`)),
          filter.oneOf('gpu', t('flavor.filter.gpu'), ['true', 'false'], (value) => t(`flavor.filterGpu.${value}`)),
          filter.keyword(t('flavor.filter.keyword')),
        ]}
        rowActions={actionsOf}
        create={{ call: flavors.create, label: t('flavor.create'), dialog: (close) => <FlavorDrawer flavor={null} onClose={close} /> }}
        empty={{ title: t('flavor.empty'), note: t('flavor.emptyNote') }}
      />
    </>
  )
}
