import { regions, sites, type Site } from '@zhisuan/contract/ecrm/region'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { col, type Column } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { SiteDialog } from './SiteDialog.tsx'
import { useSiteActions } from './useSiteActions.tsx'

/** The rooms and buildings that nodes stand in. */
export default function SiteList() {
  const { t } = useTranslation('edge')
  const [search] = useSearchParams()
  const { actionsOf } = useSiteActions()
  const { data } = useCall(regions.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const regionId = search.get('region_id')
  return (
    <ResourceTable
      call={sites.list}
      columns={siteColumns(t)}
      filters={[filter.named('region_id', t('filter.region'), data?.items), filter.keyword(t('site.keyword'))]}
      rowActions={actionsOf}
      create={{
        call: sites.create,
        label: t('site.create'),
        dialog: (close) => <SiteDialog site={null} {...(regionId !== null && { regionId })} onClose={close} />,
      }}
      empty={{ title: t('site.none'), note: t('site.noneNote') }}
    />
  )
}

const siteColumns = (t: TFunction<'edge'>): readonly Column<Site>[] => [
  col.name('name', t('column.name'), (site) => site.name, {
    sort: true,
    to: (site) => paths.platform.site.detail(site.id, site.name, site.region.id),
    note: (site) => site.description,
  }),
  col.text('region', t('site.region'), (site) => site.region.name, { width: 150 }),
  col.text('place', t('site.place'), (site) => site.divisions.map(({ name }) => name).join(' '), { width: 240, note: (site) => site.address }),
  col.custom('edges', t('site.edges'), (site) => <span className="zs-number">{t('site.online', { online: site.online_count, count: site.edge_count })}</span>, {
    width: 110,
  }),
  col.number('gateways', t('site.gateways'), (site) => site.gateway_count, { width: 80 }),
  col.date('updated', t('column.updated'), (site) => site.updated_at, { off: true }),
  col.date('created_at', t('column.created'), (site) => site.created_at, { sort: true }),
]
