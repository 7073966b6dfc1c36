import { flavors, type Flavor, type FlavorVm } from '@zhisuan/contract/nextstack/flavor'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import '../compute.css'
import { vmTones } from '../vm/vmRules.ts'
import { gpuText, visibilityText } from './flavorTexts.ts'
import { useFlavorActions } from './useFlavorActions.tsx'

/** One size: what it is, who may choose it, and the instances that have it. */
export default function FlavorDetail() {
  const { t } = useTranslation('nextstackCompute')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const [deleted, setDeleted] = useState(false)
  const query = useOne(flavors.get, { params: { id } }, { enabled: !deleted, refreshMs: 10_000 })
  const actionsOf = useFlavorActions(() => {
    setDeleted(true)
    void navigate(paths.nextstack.flavor.list())
  })
  return (
    <>
      <DetailPage
        query={query}
        gone={{ title: t('flavor.detail.gone'), to: paths.nextstack.flavor.list(), back: t('flavor.detail.back') }}
        title={({ name }) => name}
        actions={actionsOf}
        facts={(flavor) => [
          { key: 'cpu', label: t('flavor.column.cpu'), value: t('cores', { count: flavor.cpu_cores }) },
          { key: 'memory', label: t('flavor.column.memory'), value: format.bytes(flavor.memory_bytes) },
          { key: 'disk', label: t('flavor.column.disk'), value: format.bytes(flavor.disk_bytes) },
          { key: 'gpu', label: t('flavor.column.gpu'), value: gpuText(t, flavor) },
          { key: 'visibility', label: t('flavor.column.visibility'), value: visibilityText(t, flavor) },
          { key: 'vms', label: t('column.vms'), value: t('vmCount', { count: flavor.vm_count }) },
          { key: 'created', label: t('column.created'), value: format.dateTime(flavor.created_at) },
          { key: 'id', label: t('flavor.detail.id'), value: <span className="zs-code">{flavor.id}</span> },
          { key: 'description', label: t('column.description'), value: flavor.description === '' ? format.nothing : flavor.description },
        ]}
        tabs={(flavor) => [
          { key: 'vms', label: t('flavor.detail.tabVms'), content: <Instances id={flavor.id} /> },
          { key: 'organisations', label: t('flavor.detail.tabOrganisations'), content: <Chosen flavor={flavor} /> },
        ]}
      />
    </>
  )
}

function Instances({ id }: { readonly id: string }) {
  const { t } = useTranslation(['nextstackCompute', 'nextstack'])
  return (
    <ResourceTable
      call={flavors.vms}
      input={{ params: { id } }}
      name="vms"
      columns={[
        col.name<FlavorVm>('name', t('column.name'), ({ name }) => name, { to: (vm) => paths.nextstack.vm.detail(vm.id) }),
        col.status<FlavorVm>('status', t('flavor.detail.status'), ({ status }) => ({ tone: vmTones[status], text: t(`nextstack:status.${status}`) })),
        col.text<FlavorVm>('cloud', t('flavor.detail.cloud'), ({ cloud_name }) => cloud_name),
        col.text<FlavorVm>('bp', t('column.organisation'), ({ bp_name }) => bp_name),
        col.date<FlavorVm>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      empty={{ title: t('flavor.detail.vmsEmpty') }}
    />
  )
}

function Chosen({ flavor }: { readonly flavor: Flavor }) {
  const { t } = useTranslation('nextstackCompute')
  if (flavor.public) return <p>{t('flavor.detail.everybody')}</p>
  return (
    <>
      <p>{t('flavor.detail.only')}</p>
      <ul className="nc-names">
        {flavor.organisations.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
    </>
  )
}
