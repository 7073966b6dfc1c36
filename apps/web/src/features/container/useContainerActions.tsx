import { containers, type Container } from '@zhisuan/contract/cis/container'
import { type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import type { BatchAction } from '../../kit/BatchBar.tsx'
import type { Confirmation } from '../../kit/ConfirmDialog.tsx'
import { firstNames } from '../../kit/firstNames.ts'
import { paths, withQuery } from '../../paths.ts'
import { ContainerKill } from './ContainerKill.tsx'
import { ContainerRename } from './ContainerRename.tsx'
import { ContainerUpdate } from './ContainerUpdate.tsx'
import { invalidatedByContainer, whyNotContainer } from './containerRules.ts'
import { pageOf } from '../../kit/containerText.ts'
import { told } from '../../api/tellError.ts'

/** The calls that need nothing but the container. */
function useContainerCalls() {
  const options = { invalidates: invalidatedByContainer, silent: true }
  const act = useChange(containers.action, options)
  const remove = useChange(containers.delete, options)
  const acting =
    (action: 'start' | 'stop' | 'restart' | 'rebuild') =>
    ({ id }: Container) =>
      act.mutateAsync({ params: { id }, body: { action } })
  return {
    start: acting('start'),
    stop: acting('stop'),
    restart: acting('restart'),
    rebuild: acting('rebuild'),
    delete: ({ id }: Container) => remove.mutateAsync({ params: { id } }),
  }
}
type Operation = keyof ReturnType<typeof useContainerCalls>
type DialogKind = 'rename' | 'kill' | 'update'

const dangerous: readonly (Operation | DialogKind)[] = ['kill', 'delete']

/** What can be done to containers: as actions of one, as batch actions. */
export function useContainerActions(onDeleted?: () => void): {
  readonly actionsOf: (container: Container) => readonly Action[]
  readonly batchActions: readonly BatchAction<Container>[]
} {
  const { t } = useTranslation('container')
  const calls = useContainerCalls()
  const dialogs = {
    rename: (container: Container, close: () => void) => <ContainerRename container={container} onClose={close} />,
    kill: (container: Container, close: () => void) => <ContainerKill container={container} onClose={close} />,
    update: (container: Container, close: () => void) => <ContainerUpdate container={container} onClose={close} />,
  }

  const body = (name: Operation, of: readonly Container[]): ReactNode => {
    if (name === 'start') return null
    return name === 'delete' && of.every(({ status }) => status === 'lost') ? t('confirm.deleteLost') : t(`confirm.${name}`)
  }
  const confirmOne = (name: Operation, container: Container): Confirmation => ({
    title: t('confirm.one', { action: t(`action.${name}`), name: container.name }),
    body: body(name, [container]),
    ...(name === 'delete' && { typeToConfirm: container.name }),
  })
  const confirmMany = (name: Operation, of: readonly Container[]): Confirmation => ({
    title: t('confirm.many', { action: t(`action.${name}`), count: of.length }),
    body: (
      <>
        <p>{body(name, of)}</p>
        <p>
          {t('confirm.which')}
          {firstNames(
            of.map(({ name: one, edge }) => `${one}（${edge.name}）`),
            t('confirm.more', { count: of.length }),
          )}
        </p>
      </>
    ),
  })

  const basics = (name: Operation | DialogKind, container: Container) => ({
    key: name,
    call: name === 'delete' ? containers.delete : containers.action,
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    disabledReason: whyNotContainer(t, name, container),
  })
  const operation = (name: Operation, container: Container): Action => ({
    ...basics(name, container),
    doneText: t(`done.${name}`, { name: container.name }),
    // Of what is lost a rebuild takes nothing away.
    ...(name !== 'start' && !(name === 'rebuild' && container.status === 'lost') && { confirm: confirmOne(name, container) }),
    run: async () => {
      await told(calls[name](container))
      if (name === 'delete') onDeleted?.()
    },
  })
  const opening = (kind: keyof typeof dialogs, container: Container): Action => ({
    ...basics(kind, container),
    dialog: (close) => dialogs[kind](container, close),
  })

  const actionsOf = (container: Container): readonly Action[] => [
    // What is wanted of it most stands first: a running one is typed into, a stopped one started.
    ...(container.status === 'exited'
      ? [operation('start', container)]
      : container.status === 'lost'
        ? [operation('rebuild', container)]
        : [
            {
              key: 'terminal',
              call: containers.terminal,
              label: t('action.terminal'),
              disabledReason: whyNotContainer(t, 'terminal', container),
              href: paths.container.command(container.id, container.name),
            },
            operation('stop', container),
          ]),
    {
      key: 'logs',
      call: containers.logs,
      label: t('action.logs'),
      disabledReason: whyNotContainer(t, 'logs', container),
      href: withQuery(pageOf(container), { tab: 'logs' }),
    },
    operation('restart', container),
    // A stack makes its own anew from its compose file: there they are changed, and removed.
    ...(container.service === null
      ? [
          opening('rename', container),
          opening('update', container),
          ...(container.status === 'lost' ? [] : [operation('rebuild', container)]),
          { key: 'copy', call: containers.deploy, label: t('action.copy'), href: withQuery(paths.container.deployment.add(), { from: container.id }) },
        ]
      : []),
    opening('kill', container),
    ...(container.service === null ? [operation('delete', container)] : []),
  ]

  const batch = (name: Operation): BatchAction<Container> => ({
    key: name,
    call: name === 'delete' ? containers.delete : containers.action,
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    run: (container) => calls[name](container),
    disabledReason: (container) => whyNotContainer(t, name, container),
    ...(name !== 'start' && { confirm: (of: readonly Container[]) => confirmMany(name, of) }),
  })

  return {
    actionsOf,
    batchActions: [batch('start'), batch('stop'), batch('restart'), batch('rebuild'), batch('delete')],
  }
}
