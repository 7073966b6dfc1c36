import { commands, commandStatuses, type Command } from '@zhisuan/contract/nextstack/command'
import { useTranslation } from '../../../i18n.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { commandTones, elapsedMs, isOpen } from './commandState.ts'
import { resultText } from './commandTexts.ts'
import { useCommandActions, type EditCommand } from './useCommandActions.tsx'

/** Commands that were run on the cloud, newest first. */
export function CommandHistory({
  cloudId,
  shown,
  onEdit,
  onShow,
}: {
  readonly cloudId: string | undefined
  /** The one whose results stand above. */
  readonly shown: string | null
  readonly onEdit: EditCommand
  readonly onShow: (command: Command) => void
}) {
  const { t } = useTranslation('nextstackCompute')
  const actionsOf = useCommandActions({ onEdit, onShow })
  return (
    <ResourceTable
      call={commands.list}
      input={{ query: { cloud_id: cloudId } }}
      name="history"
      enabled={cloudId !== undefined}
      refreshMs={(response) => (response?.items.some(isOpen) === true ? 2_000 : 5_000)}
      columns={[
        col.name<Command>('name', t('command.column.name'), ({ name }) => name, { sort: true }),
        col.status<Command>('status', t('command.column.status'), ({ status }) => ({ tone: commandTones[status], text: t(`command.status.${status}`) }), {
          sort: true,
          width: 100,
        }),
        col.text<Command>('result', t('command.column.result'), (command) => resultText(t, command), { width: 190 }),
        col.text<Command>('created_by', t('command.column.creator'), ({ created_by }) => created_by, { width: 110 }),
        col.date<Command>('created_at', t('command.column.created'), ({ created_at }) => created_at, { sort: true }),
        col.text<Command>(
          'duration',
          t('command.column.duration'),
          (command) => format.duration(elapsedMs({ started_at: command.created_at, finished_at: command.finished_at }, Date.now())),
          { width: 110 },
        ),
      ]}
      filters={[
        filter.oneOf('status', t('command.filter.status'), commandStatuses, (value) => t(`command.status.${value}`)),
        filter.keyword(t('command.filter.keyword')),
      ]}
      rowActions={(command) =>
        [
          {
            key: 'view',
            call: null,
            label: t('command.view'),
            run: () => onShow(command),
          },
          ...actionsOf(command),
        ].filter(({ key }) => key !== 'view' || command.id !== shown)
      }
      empty={{ title: t('command.historyEmpty'), note: t('command.historyEmptyNote') }}
    />
  )
}
