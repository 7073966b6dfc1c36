import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { hosts, type Host } from '@zhisuan/contract/nextstack/host'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { invalidatedByHost, whyNotHost } from './hostRules.ts'

/** What an administrator can do to a host. */
export function useHostActions(cloudOf: (host: Host) => Pick<CloudBasic, 'status'> | null): (host: Host) => readonly Action[] {
  const { t } = useTranslation('hardware')
  const schedule = useChange(hosts.setSchedulable, { invalidates: invalidatedByHost })
  const evacuate = useChange(hosts.evacuate, { invalidates: invalidatedByHost })
  const restore = useChange(hosts.restore, { invalidates: invalidatedByHost })
  return (host) => {
    const { id, name, schedulable, vm_count: count } = host
    const params = { id }
    return [
      schedulable
        ? {
            key: 'unschedule',
            call: hosts.setSchedulable,
            label: t('unschedule'),
            confirm: { title: t('unscheduleTitle', { name }), body: t('unscheduleBody', { count }) },
            doneText: t('unscheduled', { name }),
            run: () => schedule.mutateAsync({ params, body: { schedulable: false } }),
          }
        : {
            key: 'schedule',
            call: hosts.setSchedulable,
            label: t('schedule'),
            doneText: t('scheduled', { name }),
            run: () => schedule.mutateAsync({ params, body: { schedulable: true } }),
          },
      {
        key: 'evacuate',
        call: hosts.evacuate,
        label: t('evacuate'),
        danger: true,
        disabledReason: whyNotHost(t, 'evacuate', host, cloudOf(host)),
        confirm: { title: t('evacuateTitle', { name }), body: t('evacuateBody', { count }) },
        doneText: t('evacuated', { name }),
        run: () => evacuate.mutateAsync({ params }),
      },
      {
        key: 'restore',
        call: hosts.restore,
        label: t('restore'),
        disabledReason: whyNotHost(t, 'restore', host, cloudOf(host)),
        confirm: { title: t('restoreTitle', { name }), body: t('restoreBody') },
        doneText: t('restored', { name }),
        run: () => restore.mutateAsync({ params }),
      },
    ]
  }
}
