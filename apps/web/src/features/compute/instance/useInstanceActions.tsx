import type { Call } from '@zhisuan/contract/define'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, type ComputeInstance, type InstanceAction } from '@zhisuan/contract/compute/instance'
import { lazy, Suspense, useCallback, useRef, type RefObject } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import type { Confirmation } from '../../../kit/ConfirmDialog.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { useIsPlatform } from '../../../session/user.ts'
import type { DialogKind } from './InstanceDialog.tsx'
import type { Released } from './LeftBehind.tsx'
import { invalidatedByInstance, whyNotInstance } from './instanceRules.ts'

// Their pickers are more script than the list that offers them.
const InstanceDialog = lazy(() => import('./InstanceDialog.tsx').then((module) => ({ default: module.InstanceDialog })))

const LeftBehind = lazy(() => import('./LeftBehind.tsx'))

/**
 * The calls that need nothing but the instance.
 * @param released what is to go with one that is deleted, as it stands when that is confirmed
 */
function useInstanceCalls(cloudId: string, released: RefObject<Released>) {
  const options = { invalidates: invalidatedByInstance, silent: true }
  const start = useChange(computeInstances.start, options)
  const stop = useChange(computeInstances.stop, options)
  const reboot = useChange(computeInstances.reboot, options)
  const pause = useChange(computeInstances.pause, options)
  const unpause = useChange(computeInstances.unpause, options)
  const suspend = useChange(computeInstances.suspend, options)
  const resume = useChange(computeInstances.resume, options)
  const shelve = useChange(computeInstances.shelve, options)
  const unshelve = useChange(computeInstances.unshelve, options)
  const lock = useChange(computeInstances.lock, options)
  const unlock = useChange(computeInstances.unlock, options)
  const confirmResize = useChange(computeInstances.confirmResize, options)
  const revertResize = useChange(computeInstances.revertResize, options)
  const unrescue = useChange(computeInstances.unrescue, options)
  const recycle = useChange(computeInstances.recycle, options)
  const remove = useChange(computeInstances.delete, options)
  const of = (id: string) => ({ params: { cloud_id: cloudId, id } })
  return {
    start: (id: string) => start.mutateAsync(of(id)),
    stop: (id: string) => stop.mutateAsync(of(id)),
    softReboot: (id: string) => reboot.mutateAsync({ ...of(id), body: { type: 'soft' } }),
    hardReboot: (id: string) => reboot.mutateAsync({ ...of(id), body: { type: 'hard' } }),
    pause: (id: string) => pause.mutateAsync(of(id)),
    unpause: (id: string) => unpause.mutateAsync(of(id)),
    suspend: (id: string) => suspend.mutateAsync(of(id)),
    resume: (id: string) => resume.mutateAsync(of(id)),
    shelve: (id: string) => shelve.mutateAsync(of(id)),
    unshelve: (id: string) => unshelve.mutateAsync(of(id)),
    lock: (id: string) => lock.mutateAsync(of(id)),
    unlock: (id: string) => unlock.mutateAsync(of(id)),
    confirmResize: (id: string) => confirmResize.mutateAsync(of(id)),
    revertResize: (id: string) => revertResize.mutateAsync(of(id)),
    unrescue: (id: string) => unrescue.mutateAsync(of(id)),
    recycle: (id: string) => recycle.mutateAsync(of(id)),
    purge: (id: string) => {
      const { release_floating_ips, release_volumes } = released.current
      return remove.mutateAsync({
        ...of(id),
        query: { ...(release_floating_ips && { release_floating_ips: 'true' }), ...(release_volumes && { release_volumes: 'true' }) },
      })
    },
  }
}
type Operation = keyof ReturnType<typeof useInstanceCalls>

/** What of the contract's table an action here is, where it is called otherwise. */
const rules = {
  softReboot: 'rebootSoft',
  hardReboot: 'rebootHard',
  purge: 'delete',
  rename: 'update',
  password: 'changePassword',
  // Neutron's, and no matter of its state: whatever may be said of an instance may be done here too.
  bindFloatingIp: 'update',
  unbindFloatingIp: 'update',
} as const satisfies Partial<Record<Operation | DialogKind, InstanceAction>>

/** The call that each makes, where that is called otherwise. */
const made = {
  softReboot: computeInstances.reboot,
  hardReboot: computeInstances.reboot,
  purge: computeInstances.delete,
  rename: computeInstances.update,
  password: computeInstances.changePassword,
  bindFloatingIp: computeFloatingIps.bind,
  unbindFloatingIp: computeFloatingIps.unbind,
} as const satisfies Partial<Record<Operation | DialogKind, Call>>
const callOf = (name: Operation | DialogKind): Call => (isMade(name) ? made[name] : computeInstances[name])
const isMade = (name: Operation | DialogKind): name is keyof typeof made => name in made

/** These are asked about first. */
const asked = [
  'stop',
  'softReboot',
  'hardReboot',
  'pause',
  'suspend',
  'shelve',
  'unrescue',
  'confirmResize',
  'revertResize',
  'recycle',
  'purge',
] as const satisfies readonly Operation[]
const isAsked = (name: Operation): name is (typeof asked)[number] => (asked as readonly Operation[]).includes(name)
const dangerous: readonly (Operation | DialogKind)[] = ['unbindFloatingIp', 'hardReboot', 'rebuild', 'revertResize', 'recycle', 'purge', 'resetState']

/**
 * What can be done to instances: as actions of one, and as batch actions.
 * @param cloud null where it is not known; then it is not judged
 * @param onGone after one went to the recycle bin, or for good
 */
export function useInstanceActions(
  cloud: CloudBasic | null,
  onGone?: () => void,
): {
  readonly actionsOf: (instance: ComputeInstance) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeInstance>[]
} {
  const { t } = useTranslation('computeInstance')
  const platform = useIsPlatform()
  const cloudId = cloud?.cloud_id ?? ''
  // What is chosen in the question is read when it is answered.
  const released = useRef<Released>({ release_floating_ips: false, release_volumes: false })
  const chosen = useCallback((wish: Released): void => void (released.current = wish), [])
  const calls = useInstanceCalls(cloudId, released)

  const ruleOf = (name: Operation | DialogKind): InstanceAction => (name in rules ? rules[name as keyof typeof rules] : (name as InstanceAction))
  const basics = (name: Operation | DialogKind, instance: ComputeInstance) => ({
    key: name,
    call: callOf(name),
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    disabledReason: whyNotInstance(t, ruleOf(name), instance, cloud),
  })
  const confirmOne = (name: (typeof asked)[number], instance: ComputeInstance): Confirmation => ({
    title: t('confirm.one', { action: t(`action.${name}`), name: instance.name }),
    body:
      name === 'purge' || name === 'recycle' ? (
        <>
          <p>{t(`confirm.${name}`)}</p>
          <Suspense>
            <LeftBehind of={instance} cloudId={cloudId} onChange={name === 'purge' ? chosen : null} />
          </Suspense>
        </>
      ) : (
        t(`confirm.${name}`)
      ),
    ...(name === 'purge' && { typeToConfirm: instance.name }),
  })
  const operation = (name: Operation, instance: ComputeInstance): Action => ({
    ...basics(name, instance),
    doneText: t(`done.${name}`, { name: instance.name }),
    ...(isAsked(name) && { confirm: confirmOne(name, instance) }),
    run: async () => {
      await calls[name](instance.id)
      if (name === 'recycle' || name === 'purge') onGone?.()
    },
  })
  const opening = (kind: DialogKind, instance: ComputeInstance): Action => ({
    ...basics(kind, instance),
    dialog: (close) => cloud !== null && <InstanceDialog kind={kind} instance={instance} cloud={cloud} onClose={close} />,
  })
  const addressing = (kind: 'bindFloatingIp' | 'unbindFloatingIp', instance: ComputeInstance): Action => {
    const opened = opening(kind, instance)
    const has = (type: 'fixed' | 'floating'): boolean => instance.addresses.some((one) => one.type === type && one.version === 4)
    const missing = kind === 'bindFloatingIp' ? (has('fixed') ? null : t('floatingIp.noFixed')) : has('floating') ? null : t('floatingIp.none')
    return { ...opened, disabledReason: opened.disabledReason ?? missing }
  }
  /** Migrating is two calls: it may be asked for where either may. */
  const migrating = (instance: ComputeInstance): Action => ({
    ...opening('migrate', instance),
    disabledReason: whyNotInstance(t, 'liveMigrate', instance, cloud) === null ? null : whyNotInstance(t, 'migrate', instance, cloud),
  })

  const actionsOf = (instance: ComputeInstance): readonly Action[] => {
    const { state, locked } = instance
    const is = (...states: readonly ComputeInstance['state'][]): boolean => states.includes(state)
    return [
      // What its state waits for stands first.
      ...(is('resized') ? [operation('confirmResize', instance), operation('revertResize', instance)] : []),
      ...(is('rescued') ? [operation('unrescue', instance)] : []),
      ...(is('paused') ? [operation('unpause', instance)] : []),
      ...(is('suspended') ? [operation('resume', instance)] : []),
      ...(is('shelved') ? [operation('unshelve', instance)] : []),
      ...(is('stopped') ? [operation('start', instance)] : []),
      ...(is('stopped', 'shelved', 'suspended') ? [] : [opening('console', instance)]),
      ...(is('stopped', 'shelved', 'suspended', 'paused') ? [] : [operation('stop', instance)]),
      operation('softReboot', instance),
      opening('rename', instance),
      opening('resize', instance),
      opening('snapshot', instance),
      addressing('bindFloatingIp', instance),
      addressing('unbindFloatingIp', instance),
      opening('password', instance),
      ...(is('paused') ? [] : [operation('pause', instance)]),
      ...(is('suspended') ? [] : [operation('suspend', instance)]),
      ...(is('shelved') ? [] : [operation('shelve', instance)]),
      ...(is('rescued') ? [] : [opening('rescue', instance)]),
      operation(locked ? 'unlock' : 'lock', instance),
      ...(platform ? [migrating(instance)] : []),
      operation('hardReboot', instance),
      opening('rebuild', instance),
      ...(platform ? [opening('resetState', instance)] : []),
      operation('recycle', instance),
      operation('purge', instance),
    ]
  }

  const batch = (name: Operation): BatchAction<ComputeInstance> => ({
    key: name,
    call: callOf(name),
    label: t(`action.${name}`),
    danger: dangerous.includes(name),
    run: ({ id }) => calls[name](id),
    disabledReason: (instance) => whyNotInstance(t, ruleOf(name), instance, cloud),
    ...(isAsked(name) && {
      confirm: (of: readonly ComputeInstance[]) => ({
        title: t('confirm.many', { action: t(`action.${name}`), count: of.length }),
        body: (
          <>
            <p>{t(`confirm.${name}`)}</p>
            <p>
              {t('confirm.which')}
              {firstNames(
                of.map((one) => one.name),
                t('confirm.more', { count: of.length }),
              )}
            </p>
          </>
        ),
      }),
    }),
  })

  return {
    actionsOf,
    batchActions: [batch('start'), batch('stop'), batch('softReboot'), batch('recycle')],
  }
}
