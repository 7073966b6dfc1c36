import { fileTransfers, transferKinds, transferOutcomes, type FileTransfer } from '@zhisuan/contract/files/file'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { SaveButtons } from '../../kit/SaveButtons.tsx'
import { saveFrom } from '../../kit/save.ts'
import { useOrganisationFilter } from '../../kit/useOrganisationFilter.tsx'

/** Numbers stand under each other. */
const right = { align: 'right', className: 'zs-number' } as const
const tones = { running: 'busy', done: 'good', failed: 'bad', cancelled: 'rest' } as const

/** Every upload, download, publication and download by a share: for who runs the platform. */
export default function TransferList() {
  const { t } = useTranslation('files')
  const { organisation, control } = useOrganisationFilter()
  const of = organisation === undefined ? {} : { bp_id: organisation.id }
  const save = useChange(fileTransfers.export, { onDone: ({ path }) => saveFrom(path) })
  return (
    <ResourceTable
      call={fileTransfers.list}
      input={{ query: of }}
      columns={[
        col.name<FileTransfer>('name', t('column.name'), ({ name }) => name ?? t('transfer.hidden'), {
          note: ({ kind, space_kind, machine }) => [t(`transfer.${kind}`), t(`spaces.${space_kind}`), machine].filter((part) => part !== null).join(' · '),
        }),
        col.status<FileTransfer>(
          'outcome',
          t('column.outcome'),
          ({ outcome, reason }) => ({ tone: tones[outcome], text: t(`outcome.${outcome}`), note: reason }),
          {
            width: 150,
          },
        ),
        col.text<FileTransfer>('who', t('column.who'), ({ user_name }) => user_name ?? t('transfer.visitor'), { width: 130, note: ({ ip }) => ip }),
        col.text<FileTransfer>('bp', t('column.organisation'), ({ bp_name }) => bp_name, { width: 120 }),
        {
          ...col.custom<FileTransfer>(
            'bytes',
            t('column.bytes'),
            ({ bytes, size_bytes: size }) =>
              size === null || size === bytes ? format.bytes(bytes) : t('transfer.of', { bytes: format.bytes(bytes), size: format.bytes(size) }),
            { width: 170, sort: true },
          ),
          ...right,
        },
        { ...col.custom<FileTransfer>('rate', t('column.rate'), ({ rate }) => format.bytesPerSecond(rate), { width: 110 }), ...right },
        col.code<FileTransfer>('sha256', 'SHA-256', ({ sha256 }) => sha256, { width: 180, off: true }),
        col.date<FileTransfer>('started_at', t('column.started'), ({ started_at }) => started_at, { sort: true }),
        col.date<FileTransfer>('ended_at', t('column.ended'), ({ ended_at }) => ended_at),
      ]}
      filters={[
        filter.oneOf('kind', t('column.kind'), transferKinds, (one) => t(`transfer.${one}`)),
        filter.oneOf('outcome', t('column.outcome'), transferOutcomes, (one) => t(`outcome.${one}`)),
        filter.keyword(t('transfer.keyword')),
      ]}
      passing={({ outcome }) => outcome === 'running'}
      toolbar={(filters) => (
        <>
          {control}
          <SaveButtons pending={save.isPending} save={(as) => save.mutate({ body: { format: as, ...of, ...filters } })} />
        </>
      )}
      empty={{ title: t('transfer.empty'), note: t('transfer.emptyNote') }}
    />
  )
}
