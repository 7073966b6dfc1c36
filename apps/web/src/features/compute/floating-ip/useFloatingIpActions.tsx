import { computeFloatingIps, floatingIpCan, floatingIpUse, type ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { FloatingIpBind, FloatingIpEdit } from './FloatingIpDialogs.tsx'
import { invalidatedByFloatingIp } from './floatingIpRules.ts'
import { targetName, type NameOf } from './FloatingIpText.tsx'

/**
 * What can be done to floating IPs: to one, to several.
 * @param name says what an instance is called that will not be reached any more
 */
export function useFloatingIpActions(
  cloudId: string,
  name: NameOf,
  onReleased?: () => void,
): {
  readonly actionsOf: (ip: ComputeFloatingIp) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeFloatingIp>[]
} {
  const { t } = useTranslation('computeFloatingIp')
  const dialogs = {
    bind: (ip: ComputeFloatingIp, close: () => void) => <FloatingIpBind cloudId={cloudId} ip={ip} name={targetName(ip, name)} onClose={close} />,
    edit: (ip: ComputeFloatingIp, close: () => void) => <FloatingIpEdit cloudId={cloudId} ip={ip} onClose={close} />,
  }
  const calls = useFloatingIpCalls(cloudId)
  const whyNot = (action: keyof typeof floatingIpCan, ip: ComputeFloatingIp): string | null => {
    const uses: readonly string[] = floatingIpCan[action]
    return !ip.changeable ? t('notYours') : uses.includes(floatingIpUse(ip)) ? null : t('notBound')
  }
  const about = (ip: ComputeFloatingIp) => ({ address: ip.address, name: targetName(ip, name), fixed: ip.bound_to?.fixed_address ?? '' })
  const opening = (kind: keyof typeof dialogs, label: string, ip: ComputeFloatingIp): Action => ({
    key: kind,
    call: kind === 'bind' ? computeFloatingIps.bind : computeFloatingIps.update,
    label,
    disabledReason: whyNot(kind === 'bind' ? 'bind' : 'update', ip),
    dialog: (close) => dialogs[kind](ip, close),
  })
  const reached = (ips: readonly ComputeFloatingIp[]): readonly string[] =>
    ips.filter(({ bound_to }) => bound_to !== null).map((ip) => `${targetName(ip, name)}（${ip.address}）`)
  return {
    actionsOf: (ip) => [
      opening('bind', t(ip.bound_to === null ? 'bind' : 'rebind'), ip),
      {
        key: 'unbind',
        call: computeFloatingIps.unbind,
        label: t('unbind'),
        danger: true,
        disabledReason: whyNot('unbind', ip),
        doneText: t('unbound', { address: ip.address }),
        confirm: { title: t('unbindTitle', about(ip)), body: t('unbindBody', about(ip)) },
        run: () => calls.unbind(ip),
      },
      opening('edit', t('edit'), ip),
      {
        key: 'release',
        call: computeFloatingIps.release,
        label: t('release'),
        danger: true,
        disabledReason: whyNot('release', ip),
        doneText: t('released', { address: ip.address }),
        confirm: {
          title: t('releaseTitle', about(ip)),
          body: (
            <>
              {ip.bound_to !== null && <p>{t('releaseBound', about(ip))}</p>}
              <p>{t('releaseBody')}</p>
            </>
          ),
        },
        run: async () => {
          await calls.release(ip)
          onReleased?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'unbind',
        call: computeFloatingIps.unbind,
        label: t('unbind'),
        danger: true,
        disabledReason: (ip) => whyNot('unbind', ip),
        confirm: (ips) => {
          const names = reached(ips)
          return { title: t('manyUnbind', { count: names.length }), body: `${t('manyUnbindBody')}${firstNames(names, t('more', { count: names.length }))}` }
        },
        run: (ip) => calls.unbind(ip),
      },
      {
        key: 'release',
        call: computeFloatingIps.release,
        label: t('release'),
        danger: true,
        disabledReason: (ip) => whyNot('release', ip),
        confirm: (ips) => {
          const names = reached(ips)
          return {
            title: t('manyRelease', { count: ips.length }),
            body: (
              <>
                {names.length > 0 && <p>{`${t('manyReleaseBound')}${firstNames(names, t('more', { count: names.length }))}`}</p>}
                <p>{t('releaseBody')}</p>
              </>
            ),
          }
        },
        run: (ip) => calls.release(ip),
      },
    ],
  }
}

/** The calls that need nothing but what is seen of it. */
function useFloatingIpCalls(cloudId: string) {
  const options = { invalidates: invalidatedByFloatingIp, silent: true }
  const unbind = useChange(computeFloatingIps.unbind, options)
  const release = useChange(computeFloatingIps.release, options)
  return {
    unbind: ({ id, bound_to }: ComputeFloatingIp) => unbind.mutateAsync({ params: { cloud_id: cloudId, id }, body: { from_port_id: bound_to?.port_id ?? '' } }),
    release: ({ id }: ComputeFloatingIp) => release.mutateAsync({ params: { cloud_id: cloudId, id } }),
  }
}
