import type { Integration } from '@zhisuan/contract/omc/monitor'
import type { TFunction } from 'i18next'
import { col, type Column } from '../../kit/columns.tsx'
import { healthTones, statusTones } from './monitorRules.ts'

/** What lists of components show of each. */
export const integrationColumns = <Row extends Integration>(t: TFunction<'operations'>, to: (row: Row) => string): Column<Row>[] => [
  col.name<Row>('name', t('column.name'), ({ name }) => name, { sort: true, to, note: ({ description }) => description }),
  col.text<Row>('component', t('component.kind'), ({ component }) => t(`component.names.${component}`), { width: 130 }),
  col.text<Row>('where', t('component.where'), ({ node, url }) => node?.name ?? url, {
    width: 200,
    note: ({ port }) => (port === null ? '' : `127.0.0.1:${port}`),
  }),
  col.status<Row>('status', t('column.status'), ({ status, error }) => ({ tone: statusTones[status], text: t(`component.status.${status}`), note: error }), {
    width: 130,
  }),
  col.status<Row>(
    'health',
    t('column.health'),
    ({ health, health_message }) => ({ tone: healthTones[health], text: t(`component.health.${health}`), note: health_message }),
    {
      width: 140,
    },
  ),
  col.text<Row>('version', t('column.version'), ({ version }) => version, { width: 110 }),
  col.date<Row>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
]
