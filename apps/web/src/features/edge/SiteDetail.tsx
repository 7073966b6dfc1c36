import { byId } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { sites } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { Gone } from '../../kit/Gone.tsx'
import { useOne } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { edgeColumns } from './edgeColumns.tsx'
import { isUpgrading } from './edgeRules.ts'
import { GatewayTable } from './GatewayTable.tsx'
import { useSiteActions } from './useSiteActions.tsx'

/** One site: where it is, its nodes and its gateways. */
export default function SiteDetail() {
  const { t } = useTranslation('edge')
  const navigate = useNavigate()
  const { id = '', name = '', regionid = '' } = useParams()
  const { actionsOf } = useSiteActions({
    onDeleted: () => void navigate(paths.platform.site.list()),
    // Its address names its region, too.
    onSaved: (saved) => void navigate(paths.platform.site.detail(saved.id, saved.name, saved.region.id), { replace: true }),
  })
  // There is no call for one site: it is among those of its region.
  const known = byId.safeParse({ id: regionid }).success
  const query = useOne(sites.list, { query: { region_id: regionid, page_size: 1000 } }, { refreshMs: 5_000, enabled: known })
  const site = query.data?.items.find((one) => one.id === id)
  const gone = { title: t('site.missing'), to: paths.platform.site.list(), back: t('site.back') }
  if (!known || (query.data !== undefined && !query.isPlaceholderData && site === undefined)) return <Gone {...gone} />
  return (
    <DetailPage
      query={query}
      gone={gone}
      title={() => site?.name ?? name}
      actions={() => (site === undefined ? [] : actionsOf(site))}
      facts={() =>
        site === undefined
          ? []
          : [
              { key: 'region', label: t('site.region'), value: site.region.name },
              { key: 'divisions', label: t('site.divisions'), value: site.divisions.map((one) => one.name).join(' ') || format.nothing },
              { key: 'address', label: t('site.address'), value: site.address || format.nothing },
              {
                key: 'position',
                label: t('site.position'),
                value:
                  site.longitude === null || site.latitude === null
                    ? format.nothing
                    : t('site.coordinates', { longitude: site.longitude, latitude: site.latitude }),
              },
              { key: 'edges', label: t('site.edges'), value: t('site.online', { online: site.online_count, count: site.edge_count }) },
              { key: 'gateways', label: t('site.gateways'), value: site.gateway_count },
              { key: 'created', label: t('column.created'), value: format.dateTime(site.created_at) },
              { key: 'description', label: t('field.description'), value: site.description || format.nothing },
            ]
      }
      tabs={() => [
        { key: 'edges', label: t('site.tab.edges'), content: <SiteEdges id={id} /> },
        { key: 'gateways', label: t('site.tab.gateways'), content: <GatewayTable siteId={id} /> },
      ]}
    />
  )
}

function SiteEdges({ id }: { readonly id: string }) {
  const { t } = useTranslation('edge')
  return (
    <ResourceTable
      name="edges"
      call={edges.list}
      input={{ query: { site_id: id } }}
      columns={edgeColumns(t)}
      passing={isUpgrading}
      empty={{ title: t('site.noEdges'), note: t('site.noEdgesNote') }}
    />
  )
}
