import { stacks, type Stack } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { stackPaths } from './stackPaths.ts'
import { invalidatedByStack, whyNotStack } from './stackRules.ts'

/** What can be done to a stack. */
export function useStackActions(): (stack: Stack) => readonly Action[] {
  const { t } = useTranslation('application')
  const act = useChange(stacks.action, { invalidates: invalidatedByStack })
  const remove = useChange(stacks.delete, { invalidates: invalidatedByStack })

  return (stack) => {
    const { id, name, edge, service_count, project } = stack
    const on = { name, node: edge.name }
    const update: Action = {
      key: 'update',
      call: stacks.action,
      label: t('action.update'),
      disabledReason: whyNotStack(t, 'update', stack),
      href: stackPaths.update(id, name),
    }
    const stop: Action = {
      key: 'stop',
      call: stacks.action,
      label: t('action.stop'),
      disabledReason: whyNotStack(t, 'stop', stack),
      confirm: { title: t('confirm.stop', on), body: t('confirm.stopBody', { count: service_count }) },
      doneText: t('done.stop', on),
      run: () => act.mutateAsync({ params: { id }, body: { action: 'stop' } }),
    }
    const start: Action = {
      key: 'start',
      call: stacks.action,
      label: t('action.start'),
      disabledReason: whyNotStack(t, 'start', stack),
      doneText: t('done.start', on),
      run: () => act.mutateAsync({ params: { id }, body: { action: 'start' } }),
    }
    const rollback: Action = {
      key: 'rollback',
      call: stacks.action,
      label: t('action.rollback'),
      disabledReason: whyNotStack(t, 'rollback', stack) ?? (stack.revision_count < 2 ? t('revision.only') : null),
      href: stackPaths.stack(id, name, 'revisions'),
    }
    return [
      // What is wanted of it most stands first.
      ...(stack.status === 'stopped' ? [start, update, rollback, stop] : [update, stop, rollback, start]),
      {
        key: 'delete',
        call: stacks.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotStack(t, 'delete', stack),
        confirm: {
          title: t('confirm.delete', on),
          body: (
            <>
              <p>{t('confirm.deleteBody', { count: service_count })}</p>
              <p>{t('confirm.deleteVolumes', { project })}</p>
              {!edge.online && <p className="zs-bad">{t('confirm.deleteOffline', on)}</p>}
            </>
          ),
          typeToConfirm: name,
        },
        doneText: t('done.delete', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
}
