import { services, type Service, type Stack } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { portText } from '../../kit/containerText.ts'
import { ScaleDialog } from './ScaleDialog.tsx'
import { stackTones, invalidatedByStack, whyNotStack, whyNotScaled, isPassing } from './stackRules.ts'

/** The services of a stack, and what can be done to each of them alone. */
export function ServiceTable({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const act = useChange(services.action, { invalidates: invalidatedByStack })
  const remove = useChange(services.delete, { invalidates: invalidatedByStack })
  const toContainers = ({ id, name }: Service): string => paths.container.application.containers(id, name)

  const simple = (action: 'start' | 'stop' | 'restart', { id, name }: Service): Action => ({
    key: action,
    call: services.action,
    label: t(`action.${action}`),
    disabledReason: whyNotStack(t, 'update', stack),
    doneText: t(`done.${action}Service`, { name }),
    ...(action !== 'start' && { confirm: { title: t(`confirm.${action}Service`, { name }), body: t(`confirm.${action}ServiceBody`) } }),
    run: () => act.mutateAsync({ params: { id }, body: { action } }),
  })
  const actionsOf = (row: Service): readonly Action[] => [
    { key: 'containers', call: null, label: t('action.containers'), href: toContainers(row) },
    simple('restart', row),
    {
      key: 'scale',
      call: services.action,
      label: t('action.scale'),
      disabledReason: whyNotScaled(t, stack),
      dialog: (close) => <ScaleDialog service={row} onClose={close} />,
    },
    simple('stop', row),
    simple('start', row),
    {
      key: 'remove',
      call: services.delete,
      label: t('action.removeService'),
      danger: true,
      disabledReason: whyNotScaled(t, stack) ?? (row.replicas === 0 ? t('scale.none') : null),
      confirm: { title: t('confirm.removeService', { name: row.name }), body: t('confirm.removeServiceBody', { count: row.replicas }) },
      doneText: t('done.removeService', { name: row.name }),
      run: () => remove.mutateAsync({ params: { id: row.id } }),
    },
  ]
  return (
    <>
      <ResourceTable
        call={services.list}
        input={{ params: { id: stack.id } }}
        name="services"
        columns={[
          col.name<Service>('name', t('column.service'), ({ name }) => name, { to: toContainers }),
          col.status<Service>('status', t('column.status'), ({ status }) => ({ tone: stackTones[status], text: t(`status.${status}`) })),
          col.text<Service>('replicas', t('column.replicas'), ({ running_count, replicas }) => `${running_count} / ${replicas}`, { width: 120 }),
          col.code<Service>('image', t('column.image'), ({ image }) => image, { width: 240 }),
          col.code<Service>('ports', t('column.ports'), ({ ports }) => ports.map(portText).join('、'), { width: 200 }),
        ]}
        rowActions={actionsOf}
        refreshMs={(response) => whilePassing([stack, ...(response?.items ?? [])], isPassing)}
        empty={{ title: t('service.empty') }}
      />
    </>
  )
}
