import { commands, type Command } from '@zhisuan/contract/nextstack/command'
import { useTranslation } from '../../../i18n.ts'
import { request, toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { toastError } from '../../../api/notify.ts'
import type { Action } from '../../../kit/actions.tsx'
import { isOpen } from './commandState.ts'

const touched = [commands.list, commands.get]

/** Takes the script, the seconds and the instances of a command to where a new one is written. */
export type EditCommand = (script: string, timeoutSeconds: number, vms: readonly string[]) => void

/** What can be done to a command: end it, run it once more, begin another from it. */
export function useCommandActions({
  onEdit,
  onShow,
}: {
  readonly onEdit: EditCommand
  readonly onShow: (command: Command) => void
}): (command: Command) => readonly Action[] {
  const { t } = useTranslation('nextstackCompute')
  const create = useChange(commands.create, { invalidates: touched })
  const cancel = useChange(commands.cancel, { invalidates: touched })

  /** Lists cut scripts, and know no instances. */
  const whole = async ({ id }: Command) => {
    try {
      return await request(commands.get, { params: { id } })
    } catch (error) {
      toastError(toApiError(error))
      throw error
    }
  }

  return (command) => [
    ...(isOpen(command)
      ? [
          {
            key: 'cancel',
            call: commands.cancel,
            label: t('command.cancel'),
            danger: true,
            confirm: { title: t('command.cancel'), body: t('command.cancelNote') },
            doneText: t('command.cancelDone'),
            run: () => cancel.mutateAsync({ params: { id: command.id } }),
          },
        ]
      : []),
    {
      key: 'again',
      call: commands.create,
      label: t('command.again'),
      confirm: { title: t('command.againTitle', { name: command.name }), body: t('command.againNote', { count: command.vm_count }) },
      run: async () => {
        const { script, timeout_seconds, results } = await whole(command)
        onShow(await create.mutateAsync({ body: { script, timeout_seconds, vm_ids: results.map(({ vm }) => vm.id) } }))
      },
    },
    {
      key: 'edit',
      call: commands.create,
      label: t('command.edit'),
      run: async () => {
        const { script, timeout_seconds, results } = await whole(command)
        onEdit(
          script,
          timeout_seconds,
          results.map(({ vm }) => vm.id),
        )
      },
    },
  ]
}
