import { databaseServices, serviceStatuses, serviceTypes, type DatabaseService } from '@zhisuan/contract/middleware/service'
import { useLocation } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { healthTones } from './gatewayRules.ts'
import { detailOf, hostOf, isServicePassing, programNames, serviceTones, typeNames } from './serviceRules.ts'
import { useServiceActions } from './useServiceActions.tsx'

/** The databases and caches that the platform runs; of one type where the page is of that. */
export default function ServiceList() {
  const { t } = useTranslation('middleware')
  const { pathname } = useLocation()
  const actionsOf = useServiceActions()
  const type = serviceTypes.find((one) => paths.middleware[one]() === pathname)
  const add = paths.middleware.service.add()
  return (
    <ResourceTable
      call={databaseServices.list}
      input={{ query: { ...(type !== undefined && { type }) } }}
      columns={[
        col.name<DatabaseService>('name', t('column.name'), ({ name }) => name, { sort: true, to: detailOf, note: ({ description }) => description }),
        ...(type === undefined ? [col.text<DatabaseService>('type', t('column.type'), (one) => typeNames[one.type], { width: 110 })] : []),
        col.status<DatabaseService>(
          'status',
          t('column.status'),
          ({ status, error }) => ({ tone: serviceTones[status], text: t(`service.status.${status}`), note: error }),
          { width: 120 },
        ),
        col.status<DatabaseService>(
          'health',
          t('column.health'),
          ({ health, health_message }) => ({ tone: healthTones[health], text: t(`gateway.health.${health}`), note: health_message }),
          { width: 100 },
        ),
        col.text<DatabaseService>('node', t('column.node'), ({ node }) => node.name, { width: 120 }),
        col.code<DatabaseService>('address', t('column.address'), (one) => `${hostOf(one)}:${one.port}`, { width: 170 }),
        col.text<DatabaseService>('version', t('column.version'), (one) => (one.version === null ? null : `${programNames[one.type]} ${one.version}`), {
          width: 150,
        }),
        col.date<DatabaseService>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
      ]}
      passing={isServicePassing}
      filters={[
        ...(type === undefined ? [filter.oneOf('type', t('column.type'), serviceTypes, (one) => typeNames[one])] : []),
        filter.oneOf('status', t('column.status'), serviceStatuses, (one) => t(`service.status.${one}`)),
        filter.keyword(t('service.keyword')),
      ]}
      rowActions={actionsOf}
      create={{ call: databaseServices.create, label: t('service.create'), href: type === undefined ? add : `${add}?type=${type}` }}
      empty={{ title: t('service.empty'), note: t('service.emptyNote') }}
    />
  )
}
