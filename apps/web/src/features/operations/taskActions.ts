import { errors } from '@zhisuan/contract/errors'
import { tasks, type Task } from '@zhisuan/contract/omc/task'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { actionText } from '../../kit/actionText.ts'
import { pageOf } from '../../kinds.ts'
import { useKeeping } from '../../session/keeping.ts'

/** What can be done to a task: while it has not ended it is cancelled, where that can be. */
export function useTaskActions(): (task: Task) => readonly Action[] {
  const { t } = useTranslation('task')
  const cancel = useChange(tasks.cancel, { invalidates: [tasks.list], silent: true })
  return (task) =>
    task.finished_at !== null || task.status === 'cancelling'
      ? []
      : [
          {
            key: 'cancel',
            call: tasks.cancel,
            label: t('cancel'),
            disabledReason: task.cancellable ? null : errors.operationNotCancellable.text,
            confirm: { title: t('cancelTitle', { what: actionText(task.kind) }), body: t('cancelBody'), keepText: t('keep') },
            doneText: t('cancelDone'),
            run: () => cancel.mutateAsync({ params: { id: task.id } }),
          },
        ]
}

/** Where what a task works on is looked at, by whoever reads it; null where it has no page. */
export function useTaskPage(): (task: Task) => string | null {
  const { pages } = useKeeping()
  return ({ about }) => pageOf(about.kind, about, pages)
}
