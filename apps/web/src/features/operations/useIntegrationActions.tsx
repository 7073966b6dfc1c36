import { integrationCan, integrations, type Integration } from '@zhisuan/contract/omc/monitor'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { invalidatedByIntegration } from './monitorRules.ts'

const ProgramLog = lazy(() => import('../../kit/ProgramLog.tsx'))

/** What an administrator can do to a component. */
export function useIntegrationActions(): (component: Integration) => readonly Action[] {
  const { t } = useTranslation('operations')
  const act = useChange(integrations.action, { invalidates: invalidatedByIntegration, silent: true })
  return ({ id, name, status, origin, node, component }) => {
    const whyNot = (action: keyof typeof integrationCan): string | null => allowed(integrationCan, action, status, t(`component.status.${status}`))
    const run = (action: 'reinstall' | 'uninstall') => () =>
      act.mutateAsync({ params: { id }, query: { action, force: action === 'uninstall' ? 'true' : 'false' } })
    return [
      ...(origin === 'kept'
        ? [
            {
              key: 'log',
              call: integrations.log,
              label: t('component.log'),
              dialog: (close: () => void) => <ProgramLog call={integrations.log} id={id} name={name} onClose={close} />,
            },
            {
              key: 'reinstall',
              call: integrations.action,
              label: t('component.reinstall'),
              disabledReason: whyNot('reinstall'),
              confirm: { title: t('component.reinstallTitle', { name }), body: t('component.reinstallBody') },
              doneText: t('component.reinstalling', { name }),
              run: run('reinstall'),
            },
          ]
        : []),
      {
        key: 'uninstall',
        call: integrations.action,
        label: t(origin === 'kept' ? 'component.uninstall' : 'component.forget'),
        danger: true,
        disabledReason: whyNot('uninstall'),
        confirm: {
          title: t(origin === 'kept' ? 'component.uninstallTitle' : 'component.forgetTitle', { name }),
          body: t(origin !== 'kept' ? 'component.forgetBody' : component === 'prometheus' ? 'component.uninstallBody' : 'component.uninstallExporterBody', {
            node: node?.name ?? '',
          }),
          ...(component === 'prometheus' && origin === 'kept' && { typeToConfirm: name }),
        },
        doneText: t(origin === 'kept' ? 'component.uninstalling' : 'component.forgotten', { name }),
        run: run('uninstall'),
      },
    ]
  }
}
