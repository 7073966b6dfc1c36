import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Tag from 'antd/es/tag'
import { edges, serviceAgents, type EdgeDetail } from '@zhisuan/contract/ecrm/edge'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useOne, useChange } from '../../api/hooks.ts'
import { DetailPage, type Fact } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { paths, withQuery } from '../../paths.ts'
import { useMayCall } from '../../session/user.ts'
import './edge.css'
import { awaitsConfirmation, isUpgrading, labelText, taintText, invalidatedByEdge, upgradeNames, nodeGone } from './edgeRules.ts'
import { EdgeState } from './EdgeState.tsx'
import { ImageTable } from './ImageTable.tsx'
import { NodeAgent } from './NodeAgent.tsx'
import { NodeContainers } from './NodeContainers.tsx'
import { NodeMetrics } from './NodeMetrics.tsx'
import { NodeParts } from './NodeParts.tsx'
import { ServiceAgents } from './ServiceAgents.tsx'
import { useEdgeActions } from './useEdgeActions.tsx'

/** One node: what it is, how it is, and what runs there. */
export default function NodeDetail() {
  const { t } = useTranslation('edge')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(edges.get, { params: { id } }, { refreshMs: (edge) => whilePassing(edge, isUpgrading) })
  const { actionsOf } = useEdgeActions(() => void navigate(paths.container.node.list()))
  const mayServe = useMayCall(serviceAgents.list)
  return (
    <DetailPage
      query={query}
      gone={nodeGone(t)}
      title={(edge) => edge.name}
      status={(edge) => <EdgeState edge={edge} />}
      actions={actionsOf}
      notice={(edge) => <Notices edge={edge} />}
      facts={(edge) => factsOf(t, edge)}
      tabs={(edge) => [
        { key: 'metrics', label: t('tab.metrics'), content: <NodeMetrics edge={edge} /> },
        { key: 'containers', label: t('tab.containers'), content: <NodeContainers id={edge.id} /> },
        { key: 'images', label: t('tab.images'), content: <Images edge={edge} /> },
        { key: 'parts', label: t('tab.parts'), content: <NodeParts edge={edge} /> },
        { key: 'agent', label: t('tab.agent'), content: <NodeAgent edge={edge} /> },
        ...(mayServe ? [{ key: 'ports', label: t('tab.ports'), content: <ServiceAgents edge={edge} /> }] : []),
      ]}
    />
  )
}

function Images({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  return (
    <>
      <p className="zs-state zs-state-wrap ed-line">
        <Link to={paths.container.node.images(edge.id, edge.name)}>{t('image.manage')}</Link>
      </p>
      <ImageTable edge={edge} keyword="" />
    </>
  )
}

/** What the person has to know, or do, first. */
function Notices({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  const confirm = useChange(edges.confirm, { invalidates: invalidatedByEdge })
  const { id, status, docker_trouble, upgrade } = edge
  const goOn = <Link to={withQuery(paths.container.node.add(), { id })}>{t(status === 'unconfirmed' ? 'action.confirm' : 'action.enrol')}</Link>
  return (
    <>
      {(status === 'pending' || status === 'unconfirmed' || status === 'unbound') && (
        <Alert className="zs-above" type={status === 'unconfirmed' ? 'warning' : 'info'} showIcon title={t(`notice.${status}`)} action={goOn} />
      )}
      {status === 'offline' && <Alert className="zs-above" type="error" showIcon title={t('notice.offline')} description={t('notice.offlineNote')} />}
      {docker_trouble !== null && (
        <Alert className="zs-above" type="warning" showIcon title={t('notice.noDocker')} description={t(`dockerTroubleNote.${docker_trouble}`)} />
      )}
      {upgrade !== null && isUpgrading(edge) && (
        <Alert
          className="zs-above"
          type="info"
          showIcon
          title={t(`upgrade.state.${upgradeNames[upgrade.status]}`)}
          description={t('upgrade.fromTo', upgrade)}
        />
      )}
      {upgrade !== null && awaitsConfirmation(edge) && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('upgrade.waits', { version: upgrade.to })}
          description={t('upgrade.waitsNote', { version: upgrade.from })}
          action={
            <Button size="small" loading={confirm.isPending} onClick={() => confirm.mutate({ params: { id }, body: { what: 'upgrade' } })}>
              {t('action.keep')}
            </Button>
          }
        />
      )}
      {upgrade?.status === 20 && (
        <Alert className="zs-above" type="error" showIcon title={t('upgrade.failed', { version: upgrade.to })} description={upgrade.error} />
      )}
    </>
  )
}

function factsOf(t: TFunction<'edge'>, edge: EdgeDetail): readonly Fact[] {
  const { facts } = edge
  const said = (text: string | null | undefined): string => (text === null || text === undefined || text === '' ? format.nothing : text)
  const tags = (texts: readonly string[]) => (texts.length === 0 ? format.nothing : texts.map((text) => <Tag key={text}>{text}</Tag>))
  return [
    { key: 'site', label: t('column.site'), value: edge.site === null ? format.nothing : `${edge.region?.name ?? format.nothing} / ${edge.site.name}` },
    { key: 'host', label: t('fact.host'), value: said(edge.host_name) },
    { key: 'addresses', label: t('column.addresses'), value: <span className="zs-code">{said(edge.addresses.join('、'))}</span> },
    { key: 'os', label: t('column.os'), value: said(edge.os) },
    { key: 'kernel', label: t('fact.kernel'), value: said(facts?.kernel) },
    { key: 'architecture', label: t('fact.architecture'), value: said(edge.architecture) },
    { key: 'cpu', label: t('fact.cpu'), value: facts === null ? format.nothing : t('fact.cpuOf', facts.cpu) },
    { key: 'memory', label: t('fact.memory'), value: format.bytes(edge.memory_bytes) },
    { key: 'gpus', label: t('column.gpus'), value: said(edge.gpus.map(({ model, count }) => `${model} × ${count}`).join('、')) },
    {
      key: 'docker',
      label: t('column.docker'),
      value:
        facts?.docker == null
          ? format.nothing
          : t('fact.dockerOf', {
              version: facts.docker.version,
              driver: facts.docker.storage_driver,
              compose: facts.docker.compose_version ?? t('fact.noCompose'),
            }),
    },
    { key: 'agent', label: t('column.agent'), value: said(edge.agent_version) },
    { key: 'booted', label: t('fact.booted'), value: facts === null ? format.nothing : format.dateTime(facts.booted_at) },
    { key: 'labels', label: t('column.labels'), value: tags(edge.labels.map(labelText)) },
    { key: 'taints', label: t('column.taints'), value: tags(edge.taints.map(taintText)) },
    { key: 'seen', label: t('column.seen'), value: format.dateTime(edge.seen_at) },
    { key: 'organisation', label: t('column.organisation'), value: said(edge.bp_name) },
    { key: 'creator', label: t('column.creator'), value: said(edge.created_by) },
    { key: 'created', label: t('column.created'), value: format.dateTime(edge.created_at) },
    { key: 'description', label: t('field.description'), value: said(edge.description) },
  ]
}
