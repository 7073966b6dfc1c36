import { gatewayCan, serviceGateways, type ServiceGateway } from '@zhisuan/contract/middleware/gateway'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { invalidatedByGateway } from './gatewayRules.ts'

const GatewayDialog = lazy(() => import('./GatewayDialog.tsx'))
const ProgramLog = lazy(() => import('../../kit/ProgramLog.tsx'))

/** What an administrator can do to a gateway. */
export function useGatewayActions(): (gateway: ServiceGateway) => readonly Action[] {
  const { t } = useTranslation('middleware')
  const remove = useChange(serviceGateways.delete, { invalidates: invalidatedByGateway, silent: true })
  return (gateway) => {
    const { id, name, status, port_count: ports, node } = gateway
    const whyNot = (action: keyof typeof gatewayCan): string | null => allowed(gatewayCan, action, status, t(`gateway.status.${status}`))
    return [
      {
        key: 'edit',
        call: serviceGateways.update,
        label: t('edit'),
        disabledReason: whyNot('update'),
        dialog: (close) => <GatewayDialog gateway={gateway} onClose={close} />,
      },
      {
        key: 'log',
        call: serviceGateways.log,
        label: t('log'),
        dialog: (close) => <ProgramLog call={serviceGateways.log} id={id} name={name} onClose={close} />,
      },
      {
        key: 'delete',
        call: serviceGateways.delete,
        label: t('delete'),
        danger: true,
        disabledReason: whyNot('delete'),
        confirm: {
          title: t('gateway.deleteTitle', { name }),
          body: t(ports === 0 ? 'gateway.deleteEmpty' : 'gateway.deleteBody', { ports, node: node.name }),
          ...(ports > 0 && { typeToConfirm: name }),
        },
        doneText: t('gateway.deleting', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
}
