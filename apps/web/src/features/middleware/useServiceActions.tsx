import { databaseServices, serviceCan, type DatabaseService } from '@zhisuan/contract/middleware/service'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { invalidatedByService, programNames } from './serviceRules.ts'

const ServiceDialog = lazy(() => import('./ServiceDialog.tsx'))
const ServicePassword = lazy(() => import('./ServicePassword.tsx'))
const ServiceCredential = lazy(() => import('./ServiceCredential.tsx'))
const ProgramLog = lazy(() => import('../../kit/ProgramLog.tsx'))

/** What an administrator can do to a database or a cache. */
export function useServiceActions(): (service: DatabaseService) => readonly Action[] {
  const { t } = useTranslation('middleware')
  const options = { invalidates: invalidatedByService, silent: true }
  const start = useChange(databaseServices.start, options)
  const stop = useChange(databaseServices.stop, options)
  const restart = useChange(databaseServices.restart, options)
  const remove = useChange(databaseServices.delete, options)
  return (service) => {
    const { id, name, status, node, type } = service
    const whyNot = (action: keyof typeof serviceCan): string | null => allowed(serviceCan, action, status, t(`service.status.${status}`))
    const input = { params: { id }, body: {} }
    return [
      {
        key: 'edit',
        call: databaseServices.update,
        label: t('edit'),
        disabledReason: whyNot('update'),
        dialog: (close) => <ServiceDialog service={service} onClose={close} />,
      },
      {
        key: 'credential',
        call: databaseServices.credential,
        label: t('service.credential'),
        dialog: (close) => <ServiceCredential service={service} onClose={close} />,
      },
      ...(status === 'stopped'
        ? [
            {
              key: 'start',
              call: databaseServices.start,
              label: t('service.start'),
              doneText: t('service.starting', { name }),
              run: () => start.mutateAsync(input),
            },
          ]
        : [
            {
              key: 'stop',
              call: databaseServices.stop,
              label: t('service.stop'),
              disabledReason: whyNot('stop'),
              confirm: { title: t('service.stopTitle', { name }), body: t('service.stopBody') },
              doneText: t('service.stopping', { name }),
              run: () => stop.mutateAsync(input),
            },
          ]),
      {
        key: 'restart',
        call: databaseServices.restart,
        label: t('service.restart'),
        disabledReason: whyNot('restart'),
        confirm: { title: t('service.restartTitle', { name }), body: t('service.restartBody') },
        doneText: t('service.restarting', { name }),
        run: () => restart.mutateAsync(input),
      },
      {
        key: 'password',
        call: databaseServices.password,
        label: t('service.rotate'),
        disabledReason: whyNot('password'),
        dialog: (close) => <ServicePassword service={service} onClose={close} />,
      },
      {
        key: 'log',
        call: databaseServices.log,
        label: t('log'),
        dialog: (close) => <ProgramLog call={databaseServices.log} id={id} name={name} onClose={close} />,
      },
      {
        key: 'delete',
        call: databaseServices.delete,
        label: t('delete'),
        danger: true,
        disabledReason: whyNot('delete'),
        confirm: {
          title: t('service.deleteTitle', { name }),
          body: t('service.deleteBody', { node: node.name, program: programNames[type] }),
          typeToConfirm: name,
        },
        doneText: t('service.deleting', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
}
