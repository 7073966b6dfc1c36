import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { invalidatedByNetwork } from './networkText.ts'
import { GatewayDialog, InterfaceDialog, RouterEdit, RoutesDialog } from './RouterDialogs.tsx'

type Kind = 'edit' | 'gateway' | 'join' | 'routes'

/** What can be done to a router. */
export function useRouterActions(cloudId: string, onDeleted?: () => void): { readonly actionsOf: (router: ComputeRouter) => readonly Action[] } {
  const { t } = useTranslation('computeNetwork')
  const dialogs = {
    edit: (router: ComputeRouter, close: () => void) => <RouterEdit cloudId={cloudId} onClose={close} router={router} />,
    gateway: (router: ComputeRouter, close: () => void) => <GatewayDialog cloudId={cloudId} onClose={close} router={router} />,
    join: (router: ComputeRouter, close: () => void) => <InterfaceDialog cloudId={cloudId} onClose={close} router={router} />,
    routes: (router: ComputeRouter, close: () => void) => <RoutesDialog cloudId={cloudId} onClose={close} router={router} />,
  }
  const calls = { edit: computeRouters.update, gateway: computeRouters.setGateway, join: computeRouters.addInterface, routes: computeRouters.setRoutes }
  const remove = useChange(computeRouters.delete, { invalidates: invalidatedByNetwork })
  const clear = useChange(computeRouters.clearGateway, { invalidates: invalidatedByNetwork })
  const labels: Readonly<Record<Kind, string>> = { edit: t('edit'), gateway: t('router.setGateway'), join: t('router.join'), routes: t('router.setRoutes') }
  const fixed = (router: ComputeRouter): string | null => (router.changeable ? null : t('notYours'))
  const opening = (kind: keyof typeof dialogs, router: ComputeRouter): Action => ({
    key: kind,
    call: calls[kind],
    label: labels[kind],
    disabledReason: fixed(router),
    dialog: (close) => dialogs[kind](router, close),
  })
  return {
    actionsOf: (router) => [
      opening('edit', router),
      opening('join', router),
      opening('gateway', router),
      {
        key: 'clear',
        call: computeRouters.clearGateway,
        label: t('router.clearGateway'),
        disabledReason: fixed(router) ?? (router.gateway === null ? t('router.hasNoGateway') : null),
        doneText: t('router.gatewayCleared'),
        confirm: { title: t('router.clearTitle', { name: router.name }), body: t('router.clearBody') },
        run: () => clear.mutateAsync({ params: { cloud_id: cloudId, id: router.id } }),
      },
      opening('routes', router),
      {
        key: 'delete',
        call: computeRouters.delete,
        label: t('delete'),
        danger: true,
        disabledReason: fixed(router) ?? (router.interfaces.length > 0 ? t('router.stillJoined', { count: router.interfaces.length }) : null),
        doneText: t('deleted', { name: router.name }),
        confirm: { title: t('router.deleteTitle', { name: router.name }), body: t('router.deleteBody') },
        run: async () => {
          await remove.mutateAsync({ params: { cloud_id: cloudId, id: router.id } })
          onDeleted?.()
        },
      },
    ],
  }
}
