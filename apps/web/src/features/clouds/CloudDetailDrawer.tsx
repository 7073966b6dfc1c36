import Alert from 'antd/es/alert'
import Descriptions from 'antd/es/descriptions'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import Tabs from 'antd/es/tabs'
import { clouds, type CloudDetail } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import * as format from '../../kit/format.ts'
import { ProjectList, projectListName } from '../compute/tenancy/ProjectList.tsx'
import { ProjectProblems } from '../compute/tenancy/ProjectProblems.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { CapacityHistory } from './CapacityHistory.tsx'
import { ratioOf, healthTones, isConnectionType } from './cloudRules.ts'
import { ServicesTable } from './ServicesTable.tsx'
import './clouds.css'

/** One cloud: how it is, what each of its services says, how full it is and was; of an OpenStack whose its projects are. */
export function CloudDetailDrawer({ cloudId, onClose }: { readonly cloudId: string; readonly onClose: () => void }) {
  const { t } = useTranslation(['clouds', 'shell'])
  useReturnFocus()
  const { data, error, refetch } = useCall(clouds.get, { params: { id: cloudId } }, { silent: true, refreshMs: constants.listRefreshMs })
  return (
    <Drawer open size={940} title={data?.name ?? t('detail.title')} onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 8 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : data.product === 'nextstack' ? (
        <Detail cloud={data} />
      ) : (
        <Parts cloud={data} />
      )}
    </Drawer>
  )
}

/** The part that is looked at stands in the address, beside the cloud. */
function Parts({ cloud }: { readonly cloud: CloudDetail }) {
  const { t } = useTranslation('clouds')
  const [search, setSearch] = useSearchParams()
  const parts = [
    { key: 'overview', label: t('detail.overview'), children: <Detail cloud={cloud} /> },
    { key: 'projects', label: t('detail.projects'), children: <ProjectList cloudId={cloud.cloud_id} /> },
  ]
  return (
    <>
      <ProjectProblems of={{ cloud_id: cloud.cloud_id }} />
      <Tabs
        size="small"
        destroyOnHidden
        activeKey={search.get(partKey) === 'projects' ? 'projects' : 'overview'}
        items={parts}
        onChange={(key) => setSearch((now) => withPart(now, key === 'overview' ? null : key), { replace: true })}
      />
    </>
  )
}

const partKey = 'tab'
/** The address with another part of the cloud, or none; where a list of the one before stood is forgotten. */
export function withPart(search: URLSearchParams, part: string | null): URLSearchParams {
  const next = new URLSearchParams([...search].filter(([key]) => key !== partKey && !key.startsWith(`${projectListName}.`)))
  if (part !== null) next.set(partKey, part)
  return next
}

function Detail({ cloud }: { readonly cloud: CloudDetail }) {
  const { t } = useTranslation(['clouds', 'shell'])
  const { capacity } = cloud
  const physical = (of: { total: number; physical: number }, text: string): string => {
    const ratio = ratioOf(of)
    return ratio === null ? text : t('detail.ratio', { text, ratio: format.number(ratio) })
  }
  return (
    <>
      {cloud.health_message !== null && (
        <Alert
          className="zs-above"
          type={cloud.health === 'degraded' ? 'warning' : 'error'}
          showIcon
          title={t(`shell:cloud.health.${cloud.health}`)}
          description={cloud.health_message}
        />
      )}
      <Descriptions
        size="small"
        column={{ xs: 1, sm: 2 }}
        items={[
          { key: 'product', label: t('column.product'), children: t(`product.${cloud.product}`) },
          {
            key: 'engine',
            label: t('column.engine'),
            children: cloud.engine === null ? t('neverReached') : [cloud.engine, cloud.engine_version].filter((part) => part !== null).join(' '),
          },
          {
            key: 'health',
            label: t('column.health'),
            children: <StatusTag tone={healthTones[cloud.health]}>{t(`shell:cloud.health.${cloud.health}`)}</StatusTag>,
          },
          { key: 'status', label: t('column.status'), children: t(`shell:cloud.status.${cloud.status}`) },
          {
            key: 'type',
            label: t('form.type'),
            children: isConnectionType(cloud.connection.type) ? t(`form.connectionType.${cloud.connection.type}`) : cloud.connection.type,
          },
          { key: 'address', label: t('column.address'), children: <span className="zs-code cl-service-address">{cloud.connection.address}</span> },
          { key: 'instances', label: t('column.instances'), children: format.number(cloud.instance_count) },
          { key: 'nodes', label: t('column.nodes'), children: format.number(capacity?.nodes) },
          ...(capacity === null
            ? []
            : [
                {
                  key: 'cpu',
                  label: t('detail.cpu'),
                  children: physical(capacity.cpu_cores, t('cores', { amount: format.number(capacity.cpu_cores.physical) })),
                },
                { key: 'memory', label: t('detail.memory'), children: physical(capacity.memory_bytes, format.bytes(capacity.memory_bytes.physical)) },
              ]),
          { key: 'checked', label: t('column.checked'), children: format.dateTime(cloud.checked_at) },
          { key: 'created', label: t('column.created'), children: format.dateTime(cloud.created_at) },
        ]}
      />
      {cloud.services.length > 0 && (
        <>
          <h2 className="cl-heading">{t('services.title')}</h2>
          <ServicesTable services={cloud.services} />
        </>
      )}
      <CapacityHistory cloudId={cloud.cloud_id} />
    </>
  )
}
