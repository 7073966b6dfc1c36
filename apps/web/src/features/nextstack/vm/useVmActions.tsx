import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import type { Confirmation } from '../../../kit/ConfirmDialog.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { loadMessages } from '../../../locales/load.ts'
import { paths, withQuery } from '../../../paths.ts'
import { touchedBySnapshot } from '../snapshot/snapshotRules.ts'
import { nameAt } from '../../../kit/nameAt.ts'
import { RenameDialog } from './RenameDialog.tsx'
import { VmGroupsDialog } from './VmGroupsDialog.tsx'
import { touchedByVm, whyNot, type VmActionName } from './vmRules.ts'

// Their pickers and sliders are more script than the list that offers them.
const ResizeDialog = lazy(() => Promise.all([import('./ResizeDialog.tsx'), loadMessages(['order'])]).then(([module]) => ({ default: module.ResizeDialog })))
const SnapshotCreate = lazy(() => import('../snapshot/SnapshotDialogs.tsx').then((module) => ({ default: module.SnapshotCreate })))
const PrepaidLost = lazy(() => import('../../../kit/price/PrepaidLost.tsx').then((module) => ({ default: module.PrepaidLost })))
const RebuildDialog = lazy(() => import('./RebuildDialog.tsx').then((module) => ({ default: module.RebuildDialog })))

/** The calls that begin an operation and need nothing but the instance. */
function useVmCalls(silent: boolean) {
  const options = { invalidates: touchedByVm, silent }
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
    delete: (vm: Vm) => remove.mutateAsync(of(vm)),
  }
}
type DialogKind = 'rename' | 'resize' | 'rebuild' | 'groups' | 'snapshot'
type Operation = keyof ReturnType<typeof useVmCalls>

const dangerous: readonly VmActionName[] = ['forceStop', 'forceRestart', 'rebuild', 'delete']

/**
 * What can be done to instances: as actions of one, as batch actions, and the dialogs that some of
 * them open, which the page has to draw.
 * @param cloud null where it is not known; then it is not judged
 */
export function useVmActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (vm: Vm) => readonly Action[]
  readonly batchActions: readonly BatchAction<Vm>[]
  readonly dialogs: ReactNode
} {
  const { t } = useTranslation(['nextstack', 'snapshot'])
  const navigate = useNavigate()
  const calls = useVmCalls(false)
  // The batch's summary says what failed.
  const quiet = useVmCalls(true)
  const keepQuietly = useChange(snapshots.create, { invalidates: touchedBySnapshot, silent: true })
  const [dialog, setDialog] = useState<{ kind: DialogKind; vm: Vm } | null>(null)
  const close = (): void => setDialog(null)

  const body = (name: Operation, of: readonly Vm[]): ReactNode => {
    if (name === 'start') return null
    return name === 'delete' && of.every((vm) => vm.status === 'lost') ? t('confirm.deleteLost') : t(`confirm.${name}`)
  }
  const confirmOne = (name: Operation, vm: Vm): Confirmation => ({
    title: t('confirm.one', { action: t(`action.${name}`), name: vm.name }),
    body: (
      <>
        {body(name, [vm])}
        <Suspense>{name === 'delete' && <PrepaidLost type="vm" ids={[vm.id]} />}</Suspense>
      </>
    ),
    ...(name === 'delete' && { typeToConfirm: vm.name }),
  })
  const confirmMany = (name: Operation, of: readonly Vm[]): Confirmation => ({
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
        <Suspense>{name === 'delete' && <PrepaidLost type="vm" ids={of.map(({ id }) => id)} />}</Suspense>
      </>
    ),
  })

  const basics = (name: VmActionName, vm: Vm) => ({
    key: name,
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    disabledReason: whyNot(t, name, vm, cloud),
  })
  const operation = (name: Operation, vm: Vm): Action => ({
    ...basics(name, vm),
    doneText: t(`done.${name}`, { name: vm.name }),
    ...(name !== 'start' && { confirm: confirmOne(name, vm) }),
    run: async () => {
      await calls[name](vm)
      if (name === 'delete') onDeleted?.()
    },
  })
  const opening = (kind: DialogKind, vm: Vm): Action => ({
    ...basics(kind, vm),
    run: () => {
      setDialog({ kind, vm })
      return undefined
    },
  })

  const actionsOf = (vm: Vm): readonly Action[] => [
    // What is wanted of it most stands first: a running one is typed into, a stopped one started.
    ...(vm.status === 'stopped' ? [operation('start', vm)] : [{ ...basics('terminal', vm), href: withQuery(paths.nextstack.vm.command(), { id: vm.id }) }]),
    ...(vm.status === 'stopped' ? [] : [operation('stop', vm)]),
    operation('restart', vm),
    opening('rename', vm),
    opening('resize', vm),
    opening('snapshot', vm),
    // Only the border of a private network is guarded.
    ...(vm.vpc === null ? [] : [opening('groups', vm)]),
    operation('forceRestart', vm),
    operation('forceStop', vm),
    opening('rebuild', vm),
    operation('delete', vm),
  ]

  const batch = (name: Operation): BatchAction<Vm> => ({
    key: name,
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    run: (vm) => quiet[name](vm),
    disabledReason: (vm) => whyNot(t, name, vm, cloud),
    ...(name !== 'start' && { confirm: (of: readonly Vm[]) => confirmMany(name, of) }),
  })

  return {
    actionsOf,
    batchActions: [
      batch('start'),
      batch('stop'),
      batch('restart'),
      {
        key: 'command',
        label: t('action.command'),
        disabledReason: (vm) => whyNot(t, 'terminal', vm, cloud),
        open: (of) => void navigate(withQuery(paths.nextstack.vm.command(), { mode: 'batch', vms: of.map(({ id }) => id).join(',') })),
      },
      {
        key: 'snapshot',
        label: t('action.snapshot'),
        disabledReason: (vm) => whyNot(t, 'snapshot', vm, cloud),
        run: ({ id }) => keepQuietly.mutateAsync({ body: { vm_id: id, name: nameAt('snap', new Date()) } }),
        confirm: (of) => ({ title: t('snapshot:create.many', { count: of.length, name: nameAt('snap', new Date()) }), body: t('snapshot:create.note') }),
      },
      batch('forceStop'),
      batch('delete'),
    ],
    dialogs: (
      <Suspense>
        {dialog?.kind === 'rename' && <RenameDialog vm={dialog.vm} onClose={close} />}
        {dialog?.kind === 'resize' && <ResizeDialog vm={dialog.vm} onClose={close} />}
        {dialog?.kind === 'groups' && <VmGroupsDialog vm={dialog.vm} onClose={close} />}
        {dialog?.kind === 'snapshot' && <SnapshotCreate vm={dialog.vm} onClose={close} />}
        {dialog?.kind === 'rebuild' && <RebuildDialog vm={dialog.vm} onClose={close} />}
      </Suspense>
    ),
  }
}
