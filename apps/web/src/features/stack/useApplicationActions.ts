import { stackDeployments, type StackDeployment } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { told } from '../../api/tellError.ts'
import { invalidatedByStack } from './stackRules.ts'

/** What can be done to an application as a whole. */
export function useApplicationActions(onDeleted?: () => void): (application: StackDeployment) => readonly Action[] {
  const { t } = useTranslation('application')
  const remove = useChange(stackDeployments.delete, { invalidates: invalidatedByStack })
  return ({ id, name, status, stack_count }) => [
    {
      key: 'delete',
      call: stackDeployments.delete,
      label: t('action.delete'),
      danger: true,
      disabledReason: status === 'deleting' ? t('busy', { state: t('status.deleting') }) : null,
      confirm: { title: t('confirm.application', { name }), body: t('confirm.applicationBody', { count: stack_count }), typeToConfirm: name },
      doneText: t('done.delete', { name }),
      run: async () => {
        await told(remove.mutateAsync({ params: { id } }))
        onDeleted?.()
      },
    },
  ]
}
