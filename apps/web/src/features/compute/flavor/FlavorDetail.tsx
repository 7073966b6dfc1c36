import { constants } from '@zhisuan/contract/constants'
import { computeFlavors } from '@zhisuan/contract/compute/flavor'
import { useTranslation } from '../../../i18n.ts'
import { useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'

/** One size, with what the scheduler is told of it. */
export default function FlavorDetail() {
  const { t } = useTranslation('computeFlavor')
  const { id = '' } = useParams()
  const cloud = useComputeCloud()
  const query = useOne(computeFlavors.get, { params: { cloud_id: cloud?.cloud_id ?? '', id } }, { enabled: cloud !== null, refreshMs: constants.listRefreshMs })
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.flavor.list() }}
          title={(flavor) => flavor.name}
          facts={(flavor) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{flavor.id}</span> },
            { key: 'vcpus', label: t('column.vcpus'), value: format.number(flavor.vcpus) },
            { key: 'memory', label: t('column.memory'), value: format.bytes(flavor.memory_bytes) },
            { key: 'disk', label: t('column.disk'), value: flavor.disk_bytes === 0 ? t('diskOfImage') : format.bytes(flavor.disk_bytes) },
            { key: 'ephemeral', label: t('column.ephemeral'), value: format.bytes(flavor.ephemeral_bytes) },
            { key: 'swap', label: t('column.swap'), value: format.bytes(flavor.swap_bytes) },
            { key: 'visibility', label: t('column.visibility'), value: t(flavor.public ? 'visibility.public' : 'visibility.private') },
            { key: 'description', label: t('column.description'), value: flavor.description === '' ? format.nothing : flavor.description },
            ...Object.entries(flavor.extra_specs).map(([key, value]) => ({ key, label: key, value: <span className="zs-code">{value}</span> })),
          ]}
        />
      )}
    </ComputePage>
  )
}
