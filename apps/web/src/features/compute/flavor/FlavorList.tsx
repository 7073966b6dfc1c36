import { computeFlavors, type ComputeFlavor } from '@zhisuan/contract/compute/flavor'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage } from '../ComputePage.tsx'

/** The sizes that instances of the chosen cloud come in. */
export default function FlavorList() {
  const { t } = useTranslation('computeFlavor')
  return (
    <ComputePage>
      {(cloud) => (
        <CloudTable
          call={computeFlavors.list}
          cloudId={cloud?.cloud_id ?? null}
          columns={() => flavorColumns(t)}
          filters={[
            filter.select('visibility', t('column.visibility'), [
              { value: 'public', label: t('visibility.public') },
              { value: 'private', label: t('visibility.private') },
            ]),
            filter.keyword(t('keyword')),
          ]}
          textOf={(flavor) => `${flavor.name} ${flavor.id} ${flavor.description}`}
          matches={{ visibility: (flavor, value) => flavor.public === (value === 'public') }}
          sortBy={{
            name: ({ name }) => name,
            vcpus: ({ vcpus }) => vcpus,
            memory: ({ memory_bytes }) => memory_bytes,
            disk: ({ disk_bytes }) => disk_bytes,
          }}
          sortFirst="memory"
          empty={{ title: t('empty'), note: t('emptyNote') }}
        />
      )}
    </ComputePage>
  )
}

const flavorColumns = (t: TFunction<'computeFlavor'>): readonly Column<ComputeFlavor>[] => [
  col.name('name', t('column.name'), (flavor) => flavor.name, {
    sort: true,
    to: (flavor) => paths.compute.flavor.detail(flavor.id),
    note: (flavor) => flavor.description,
  }),
  col.number('vcpus', t('column.vcpus'), (flavor) => flavor.vcpus, { sort: true, width: 110 }),
  col.bytes('memory', t('column.memory'), (flavor) => flavor.memory_bytes, { sort: true, width: 120 }),
  col.bytes('disk', t('column.disk'), (flavor) => flavor.disk_bytes, { sort: true, width: 120 }),
  col.bytes('ephemeral', t('column.ephemeral'), (flavor) => flavor.ephemeral_bytes, { width: 120, off: true }),
  col.bytes('swap', t('column.swap'), (flavor) => flavor.swap_bytes, { width: 120, off: true }),
  col.text('visibility', t('column.visibility'), (flavor) => t(flavor.public ? 'visibility.public' : 'visibility.private'), { width: 120 }),
  col.code('id', t('column.id'), (flavor) => flavor.id, { width: 280, off: true }),
]
