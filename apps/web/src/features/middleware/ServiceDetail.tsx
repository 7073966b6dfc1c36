import { databaseServices, hasDatabases, type DatabaseService } from '@zhisuan/contract/middleware/service'
import Alert from 'antd/es/alert'
import { Link, useParams } from 'react-router'
import { useCall, useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { OperationTable } from '../../kit/OperationTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { healthTones } from './gatewayRules.ts'
import { AccountTable, DatabaseTable } from './ServiceTables.tsx'
import { connectionsOf, hostOf, isServicePassing, programNames, serviceOperationTexts, serviceTones, typeNames } from './serviceRules.ts'
import { useServiceActions } from './useServiceActions.tsx'
import './middleware.css'

/** One database or cache: how to connect to it, what it says of itself, its databases and accounts, and what was done to it. */
export default function ServiceDetail() {
  const { t } = useTranslation('middleware')
  const { id = '' } = useParams()
  const actionsOf = useServiceActions()
  const query = useOne(databaseServices.get, { params: { id } }, { refreshMs: (one) => (one !== undefined && isServicePassing(one) ? 1_000 : 5_000) })
  return (
    <DetailPage
      query={query}
      gone={{ title: t('service.gone'), back: t('service.back'), to: paths.middleware.service.list() }}
      title={({ name }) => name}
      about={(service) => ({ kind: 'middleware.service', id: service.id })}
      status={({ status }) => <StatusTag tone={serviceTones[status]}>{t(`service.status.${status}`)}</StatusTag>}
      actions={actionsOf}
      notice={({ error }) => (error === null ? null : <Alert className="zs-above" type="error" showIcon title={t('gateway.failed')} description={error} />)}
      facts={(service) => [
        { key: 'type', label: t('column.type'), value: typeNames[service.type] },
        {
          key: 'version',
          label: t('column.version'),
          value: service.version === null ? format.nothing : `${programNames[service.type]} ${service.version}`,
        },
        {
          key: 'health',
          label: t('column.health'),
          value: (
            <>
              <StatusTag tone={healthTones[service.health]}>{t(`gateway.health.${service.health}`)}</StatusTag> {service.health_message}
            </>
          ),
        },
        { key: 'node', label: t('column.node'), value: <Link to={paths.container.node.detail(service.node.id)}>{service.node.name}</Link> },
        { key: 'address', label: t('column.address'), value: <CopyCode text={`${hostOf(service)}:${service.port}`} /> },
        { key: 'listens', label: t('service.listens'), value: t(`service.listensOf.${service.listens}`) },
        { key: 'memory', label: t('service.memoryFact'), value: format.bytes(service.memory_mb * 1_048_576) },
        { key: 'most', label: t('field.connections'), value: String(service.connections_most) },
        { key: 'description', label: t('column.description'), value: service.description || format.nothing },
        { key: 'by', label: t('column.creator'), value: service.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(service.created_at) },
      ]}
      tabs={(service) => [
        { key: 'connect', label: t('service.connect'), content: <Connect service={service} /> },
        ...(hasDatabases(service.type)
          ? [
              { key: 'databases', label: t('service.databases'), content: <DatabaseTable service={service} /> },
              { key: 'accounts', label: t('service.accounts'), content: <AccountTable service={service} /> },
            ]
          : []),
        {
          key: 'history',
          label: t('history'),
          content: <OperationTable call={databaseServices.operations} id={service.id} busy={isServicePassing(service)} texts={serviceOperationTexts(t)} />,
        },
      ]}
    />
  )
}

/** How to come in, and what it says of itself now. */
function Connect({ service }: { readonly service: DatabaseService }) {
  const { t } = useTranslation('middleware')
  const { data } = useCall(databaseServices.figures, { params: { id: service.id } }, { silent: true, enabled: service.status === 'active', refreshMs: 5_000 })
  const figures = data?.figures ?? null
  const shown = (value: number | null | undefined, text: (value: number) => string): string =>
    value === null || value === undefined ? format.nothing : text(value)
  return (
    <div className="mw-connect">
      {service.listens === 'loopback' && <Alert type="info" showIcon title={t('service.loopbackNote', { node: service.node.name })} />}
      <dl className="mw-lines">
        {connectionsOf(service).map(({ key, text }) => (
          <div key={key}>
            <dt>{t(`service.connectBy.${key}`)}</dt>
            <dd>
              <CopyCode text={text} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="zs-soft">{t('service.connectNote')}</p>
      <dl className="mw-figures">
        <div>
          <dt>{t('traffic.connections')}</dt>
          <dd>{figures === null ? format.nothing : `${figures.connections} / ${figures.connections_most}`}</dd>
        </div>
        <div>
          <dt>{t('service.size')}</dt>
          <dd>{shown(figures?.size_bytes, format.bytes)}</dd>
        </div>
        <div>
          <dt>{t('service.memoryUsed')}</dt>
          <dd>{shown(figures?.memory_bytes, format.bytes)}</dd>
        </div>
        <div>
          <dt>{t('service.uptime')}</dt>
          <dd>{shown(figures?.uptime_seconds, (seconds) => format.duration(Math.max(1, seconds) * 1_000))}</dd>
        </div>
      </dl>
      {service.status === 'active' && data !== undefined && figures === null && <Alert type="warning" showIcon title={t('service.silent')} />}
    </div>
  )
}
