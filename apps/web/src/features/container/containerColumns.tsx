import { instanceCodeMeaning, type Container } from '@zhisuan/contract/cis/container'
import type { TFunction } from 'i18next'
import { col, type Column } from '../../kit/columns.tsx'
import * as format from '../../kit/format.ts'
import { containerTones } from './containerRules.ts'
import { pageOf, portText } from '../../kit/containerText.ts'
import { Health } from './ContainerState.tsx'

/** What is said below the status of a container: what went wrong, or what its state means. */
export function statusNote(t: TFunction<'container'>, { status, error, exit_code }: Pick<Container, 'status' | 'error' | 'exit_code'>): string | null {
  if (error !== null) return error
  if (status === 'exited' && exit_code !== null) return t('statusNote.exited', { code: exit_code })
  return status === 'lost' || status === 'unknown' ? t(`statusNote.${status}`) : null
}

/** As the specification words it. */
const codeText = (t: TFunction<'container'>, code: number): string => {
  const meaning = instanceCodeMeaning(code)
  return meaning === null ? format.nothing : t(`code.${meaning}`)
}

/** Columns of a list of containers. */
export const containerColumns = (t: TFunction<'container'>): readonly Column<Container>[] => [
  col.name<Container>('name', t('column.name'), ({ name }) => name, { sort: true, to: pageOf }),
  col.status('status', t('column.status'), (row) => ({ tone: containerTones[row.status], text: t(`status.${row.status}`), note: statusNote(t, row) }), {
    sort: true,
    width: 160,
  }),
  col.text('code', t('column.code'), ({ status_code }) => codeText(t, status_code), { width: 90, off: true }),
  col.custom('health', t('column.health'), ({ health }) => <Health of={health} />, { width: 90 }),
  col.text('node', t('column.node'), ({ edge }) => edge.name, {
    width: 110,
    // Of a node that is there nothing is known only where its Docker is away.
    note: ({ edge, status }) => (!edge.online ? t('node.offline') : status === 'unknown' ? t('node.dockerAway') : ''),
  }),
  col.code('image', t('column.image'), ({ image }) => image, { width: 160 }),
  col.code('ports', t('column.ports'), ({ ports }) => ports.map(portText).join('、'), { width: 130 }),
  col.number('restarts', t('column.restarts'), ({ restart_count }) => restart_count, { width: 90, off: true }),
  col.date('started', t('column.started'), ({ started_at }) => started_at),
  col.text('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
  col.date('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
  col.code('docker', t('column.dockerId'), ({ container_id }) => container_id?.slice(0, 12) ?? format.nothing, { off: true, width: 120 }),
  col.code('id', t('column.id'), ({ id }) => id, { off: true }),
]
