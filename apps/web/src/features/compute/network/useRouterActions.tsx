import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { touchedByNetwork } from './networkText.ts'
import { GatewayDialog, InterfaceDialog, RouterEdit, RoutesDialog } from './RouterDialogs.tsx'

type Kind = 'edit' | 'gateway' | 'join' | 'routes'

/** What can be done to a router, and the dialogs that some of it opens, which the page has to draw. */
export function useRouterActions(
  cloudId: string,
  onDeleted?: () => void,
): { readonly actionsOf: (router: ComputeRouter) => readonly Action[]; readonly dialogs: ReactNode } {
  const { t } = useTranslation('computeNetwork')
  const [dialog, setDialog] = useState<{ kind: Kind; router: ComputeRouter } | null>(null)
  const remove = useChange(computeRouters.delete, { invalidates: touchedByNetwork })
  const clear = useChange(computeRouters.clearGateway, { invalidates: touchedByNetwork })
  const labels: Readonly<Record<Kind, string>> = { edit: t('edit'), gateway: t('router.setGateway'), join: t('router.join'), routes: t('router.setRoutes') }
  const fixed = (router: ComputeRouter): string | null => (router.changeable ? null : t('notYours'))
  const opening = (kind: Kind, router: ComputeRouter): Action => ({
    key: kind,
    label: labels[kind],
    disabledReason: fixed(router),
    run: () => {
      setDialog({ kind, router })
      return undefined
    },
  })
  const shown = { cloudId, onClose: () => setDialog(null) }
  return {
    actionsOf: (router) => [
      opening('edit', router),
      opening('join', router),
      opening('gateway', router),
      {
        key: 'clear',
        label: t('router.clearGateway'),
        disabledReason: fixed(router) ?? (router.gateway === null ? t('router.hasNoGateway') : null),
        doneText: t('router.gatewayCleared'),
        confirm: { title: t('router.clearTitle', { name: router.name }), body: t('router.clearBody') },
        run: () => clear.mutateAsync({ params: { cloud_id: cloudId, id: router.id } }),
      },
      opening('routes', router),
      {
        key: 'delete',
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
    dialogs: (
      <>
        {dialog?.kind === 'edit' && <RouterEdit {...shown} router={dialog.router} />}
        {dialog?.kind === 'gateway' && <GatewayDialog {...shown} router={dialog.router} />}
        {dialog?.kind === 'join' && <InterfaceDialog {...shown} router={dialog.router} />}
        {dialog?.kind === 'routes' && <RoutesDialog {...shown} router={dialog.router} />}
      </>
    ),
  }
}
