import { commands } from '@zhisuan/contract/nextstack/command'
import type { Call } from '@zhisuan/contract/define'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { terminals, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { lazy, Suspense, useCallback, useRef, type ReactNode } from 'react'
import { loadMessages, useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import type { DrawDialog } from '../../../kit/dialogs.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { paths, withQuery } from '../../../paths.ts'
import { invalidatedBySnapshot } from '../snapshot/snapshotRules.ts'
import { nameAt } from '../../../kit/nameAt.ts'
import type { Released } from './LeftBehind.tsx'
import { VmGroupsDialog } from './VmGroupsDialog.tsx'
import { invalidatedByVm, whyNotVm, type VmActionName } from './vmRules.ts'

// Their pickers, sliders and rules are more script than the list that offers them.
const RenameDialog = lazy(() => import('./RenameDialog.tsx').then((module) => ({ default: module.RenameDialog })))
const ResizeDialog = lazy(() => Promise.all([import('./ResizeDialog.tsx'), loadMessages(['price'])]).then(([module]) => ({ default: module.ResizeDialog })))
const SnapshotCreate = lazy(() => import('../snapshot/SnapshotDialogs.tsx').then((module) => ({ default: module.SnapshotCreate })))
const PrepaidLost = lazy(() => import('../../../kit/price/PrepaidLost.tsx').then((module) => ({ default: module.PrepaidLost })))
const LeftBehind = lazy(() => import('./LeftBehind.tsx'))
const RebuildDialog = lazy(() => import('./RebuildDialog.tsx').then((module) => ({ default: module.RebuildDialog })))

/** The calls that begin an operation and need nothing but the instance, and what goes with it. */
function useVmCalls(released: { readonly current: Released }) {
  const options = { invalidates: invalidatedByVm, silent: true }
  const start = useChange(vms.start, options)
  const stop = useChange(vms.stop, options)
  const restart = useChange(vms.restart, options)
  const remove = useChange(vms.delete, options)
  const of = (vm: Pick<Vm, 'id'>) => ({ params: { id: vm.id } })
  return {
    start: (vm: Vm) => start.mutateAsync(of(vm)),
    stop: (vm: Vm) => stop.mutateAsync({ ...of(vm), body: {} }),
    restart: (vm: Vm) => restart.mutateAsync({ ...of(vm), body: {} }),
    forceStop: (vm: Vm) => stop.mutateAsync({ ...of(vm), body: { force: true } }),
    forceRestart: (vm: Vm) => restart.mutateAsync({ ...of(vm), body: { force: true } }),
    delete: (vm: Vm) => {
      const { release_eip, release_volumes } = released.current
      return remove.mutateAsync({ ...of(vm), query: { ...(release_eip && { release_eip: 'true' }), ...(release_volumes && { release_volumes: 'true' }) } })
    },
  }
}
type Operation = keyof ReturnType<typeof useVmCalls>

/** The call that each makes, where that is called otherwise. */
const made = {
  forceStop: vms.stop,
  forceRestart: vms.restart,
  snapshot: snapshots.create,
  groups: vms.setSecurityGroups,
  terminal: terminals.open,
} as const satisfies Partial<Record<VmActionName, Call>>
const isMade = (name: VmActionName): name is keyof typeof made => name in made
const callOf = (name: VmActionName): Call => (isMade(name) ? made[name] : vms[name])

const dangerous: readonly VmActionName[] = ['forceStop', 'forceRestart', 'rebuild', 'delete']

/**
 * What can be done to instances: as actions of one, and as batch actions.
 * @param cloud null where it is not known; then it is not judged
 */
export function useVmActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): { readonly actionsOf: (vm: Vm) => readonly Action[]; readonly batchActions: readonly BatchAction<Vm>[] } {
  const { t } = useTranslation(['nextstack', 'snapshot'])
  const navigate = useNavigate()
  // What is chosen in the question is read when it is answered.
  const released = useRef<Released>({ release_eip: false, release_volumes: false })
  const calls = useVmCalls(released)
  const chosen = useCallback((wish: Released): void => void (released.current = wish), [])
  const keep = useChange(snapshots.create, { invalidates: invalidatedBySnapshot, silent: true })

  const body = (name: Exclude<Operation, 'start'>, of: readonly Vm[]): string =>
    name === 'delete' && of.every((vm) => vm.status === 'lost') ? t('confirm.deleteLost') : t(`confirm.${name}`)
  const prepaid = (name: Operation, of: readonly Vm[]): ReactNode => (
    <Suspense>
      {name === 'delete' && (
        <>
          <LeftBehind of={of} onChange={chosen} />
          <PrepaidLost type="nextstack.vm" ids={of.map(({ id }) => id)} />
        </>
      )}
    </Suspense>
  )
  const label = (name: VmActionName) => ({ key: name, call: callOf(name), label: t(`action.${name}`), danger: dangerous.includes(name) })

  const basics = (name: VmActionName, vm: Vm) => ({ ...label(name), disabledReason: whyNotVm(t, name, vm, cloud) })
  const operation = (name: Operation, vm: Vm): Action => ({
    ...basics(name, vm),
    doneText: t(`done.${name}`, { name: vm.name }),
    ...(name !== 'start' && {
      confirm: {
        title: t('confirm.one', { action: t(`action.${name}`), name: vm.name }),
        body: (
          <>
            {body(name, [vm])}
            {prepaid(name, [vm])}
          </>
        ),
        ...(name === 'delete' && { typeToConfirm: vm.name }),
      },
    }),
    run: async () => {
      await calls[name](vm)
      if (name === 'delete') onDeleted?.()
    },
  })
  const opening = (name: VmActionName, vm: Vm, dialog: DrawDialog): Action => ({ ...basics(name, vm), dialog })

  const actionsOf = (vm: Vm): readonly Action[] => [
    // What is wanted of it most stands first: a running one is typed into, a stopped one started.
    ...(vm.status === 'stopped' ? [operation('start', vm)] : [{ ...basics('terminal', vm), href: withQuery(paths.nextstack.vm.command(), { id: vm.id }) }]),
    ...(vm.status === 'stopped' ? [] : [operation('stop', vm)]),
    operation('restart', vm),
    opening('rename', vm, (close) => <RenameDialog vm={vm} onClose={close} />),
    opening('resize', vm, (close) => <ResizeDialog vm={vm} onClose={close} />),
    opening('snapshot', vm, (close) => <SnapshotCreate vm={vm} onClose={close} />),
    // Only the border of a private network is guarded.
    ...(vm.vpc === null ? [] : [opening('groups', vm, (close) => <VmGroupsDialog vm={vm} onClose={close} />)]),
    operation('forceRestart', vm),
    operation('forceStop', vm),
    opening('rebuild', vm, (close) => <RebuildDialog vm={vm} onClose={close} />),
    operation('delete', vm),
  ]

  const batch = (name: Operation): BatchAction<Vm> => ({
    ...label(name),
    run: calls[name],
    disabledReason: (vm) => whyNotVm(t, name, vm, cloud),
    ...(name !== 'start' && {
      confirm: (of: readonly Vm[]) => ({
        title: t('confirm.many', { action: t(`action.${name}`), count: of.length }),
        body: (
          <>
            <p>{body(name, of)}</p>
            <p>
              {t('confirm.which')}
              {firstNames(
                of.map((vm) => vm.name),
                t('confirm.more', { count: of.length }),
              )}
            </p>
            {prepaid(name, of)}
          </>
        ),
      }),
    }),
  })

  return {
    actionsOf,
    batchActions: [
      batch('start'),
      batch('stop'),
      batch('restart'),
      {
        key: 'command',
        call: commands.create,
        label: t('action.command'),
        disabledReason: (vm) => whyNotVm(t, 'terminal', vm, cloud),
        open: (of) => void navigate(withQuery(paths.nextstack.vm.command(), { mode: 'batch', vms: of.map(({ id }) => id).join(',') })),
      },
      {
        key: 'snapshot',
        call: snapshots.create,
        label: t('action.snapshot'),
        disabledReason: (vm) => whyNotVm(t, 'snapshot', vm, cloud),
        run: ({ id }) => keep.mutateAsync({ body: { vm_id: id, name: nameAt('snap', new Date()) } }),
        confirm: (of) => ({ title: t('snapshot:create.many', { count: of.length, name: nameAt('snap', new Date()) }), body: t('snapshot:create.note') }),
      },
      batch('forceStop'),
      batch('delete'),
    ],
  }
}
