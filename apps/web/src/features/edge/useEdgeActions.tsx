import { edgeUpgrades, edges, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import type { BatchAction } from '../../kit/BatchBar.tsx'
import { firstNames } from '../../kit/firstNames.ts'
import { paths, withQuery } from '../../paths.ts'
import { EdgeEdit, EdgeMarks } from './EdgeEdit.tsx'
import { EdgeShare } from './EdgeShare.tsx'
import { awaitsConfirmation, invalidatedByEdge, whyNotNode } from './edgeRules.ts'
import { UpgradeDialog } from './UpgradeDialog.tsx'

/**
 * What can be done to nodes: as actions of one, as batch actions.
 */
export function useEdgeActions(onDeleted?: () => void): {
  readonly actionsOf: (edge: Edge) => readonly Action[]
  readonly batchActions: readonly BatchAction<Edge>[]
} {
  const { t } = useTranslation('edge')
  const dialogs = {
    edit: (edge: Edge, close: () => void) => <EdgeEdit edge={edge} onClose={close} />,
    marks: (edge: Edge, close: () => void) => <EdgeMarks edge={edge} onClose={close} />,
    share: (edge: Edge, close: () => void) => <EdgeShare edge={edge} onClose={close} />,
    upgrade: (edge: Edge, close: () => void) => <UpgradeDialog edge={edge} onClose={close} />,
  }
  const activate = useChange(edges.activate, { invalidates: invalidatedByEdge, silent: true })
  const confirm = useChange(edges.confirm, { invalidates: invalidatedByEdge })
  const unbind = useChange(edges.unbind, { invalidates: invalidatedByEdge, silent: true })
  const remove = useChange(edges.delete, { invalidates: invalidatedByEdge })

  const calls = { edit: edges.update, marks: edges.mark, share: edges.share, upgrade: edgeUpgrades.upgrade }
  const opening = (kind: keyof typeof dialogs, edge: Edge, rule: 'edit' | 'upgrade'): Action => ({
    key: kind,
    call: calls[kind],
    label: t(`action.${kind}`),
    disabledReason: whyNotNode(t, rule, edge),
    dialog: (close) => dialogs[kind](edge, close),
  })
  /** What a node in this status is wanted for first. */
  const first = (edge: Edge): readonly Action[] => {
    const { id, name, status } = edge
    const to = withQuery(paths.container.node.add(), { id })
    if (status === 'pending' || status === 'unbound') return [{ key: 'enrol', call: edges.create, label: t('action.enrol'), href: to }]
    if (status === 'unconfirmed') return [{ key: 'confirm', call: edges.confirm, label: t('action.confirm'), href: to }]
    if (awaitsConfirmation(edge)) {
      return [
        {
          key: 'keep',
          call: edges.confirm,
          label: t('action.keep'),
          doneText: t('upgrade.kept', { name }),
          run: () => confirm.mutateAsync({ params: { id }, body: { what: 'upgrade' } }),
        },
      ]
    }
    return [{ key: 'images', call: null, label: t('action.images'), disabledReason: whyNotNode(t, 'use', edge), href: paths.container.node.images(id, name) }]
  }
  const activation = (edge: Edge): Action =>
    edge.activation === 'active'
      ? {
          key: 'deactivate',
          call: edges.activate,
          label: t('action.deactivate'),
          disabledReason: whyNotNode(t, 'activate', edge),
          confirm: { title: t('activation.offTitle', { name: edge.name }), body: t('activation.offBody', { count: edge.container_count }) },
          doneText: t('activation.off', { name: edge.name }),
          run: () => activate.mutateAsync({ params: { id: edge.id }, query: { action: 'deactive' } }),
        }
      : {
          key: 'activate',
          call: edges.activate,
          label: t('action.activate'),
          disabledReason: whyNotNode(t, 'activate', edge),
          doneText: t('activation.on', { name: edge.name }),
          run: () => activate.mutateAsync({ params: { id: edge.id }, query: { action: 'active' } }),
        }
  const activateMany = (key: 'activate' | 'deactivate', wanted: Edge['activation'], already: string): BatchAction<Edge> => ({
    key,
    call: edges.activate,
    label: t(`action.${key}`),
    disabledReason: (edge) => whyNotNode(t, 'activate', edge) ?? (edge.activation === wanted ? already : null),
    run: ({ id }) => activate.mutateAsync({ params: { id }, query: { action: wanted } }),
  })

  return {
    actionsOf: (edge) => [
      ...first(edge),
      activation(edge),
      opening('edit', edge, 'edit'),
      opening('marks', edge, 'edit'),
      opening('share', edge, 'edit'),
      opening('upgrade', edge, 'upgrade'),
      {
        key: 'unbind',
        call: edges.unbind,
        label: t('action.unbind'),
        danger: true,
        disabledReason: whyNotNode(t, 'unbind', edge),
        confirm: { title: t('unbind.title', { name: edge.name }), body: t('unbind.body') },
        doneText: t('unbind.done', { name: edge.name }),
        run: () => unbind.mutateAsync({ body: { ids: [edge.id] } }),
      },
      {
        key: 'delete',
        call: edges.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotNode(t, 'delete', edge),
        confirm: { title: t('delete.title', { name: edge.name }), body: t('delete.body'), typeToConfirm: edge.name },
        doneText: t('delete.done', { name: edge.name }),
        run: async () => {
          await remove.mutateAsync({ params: { id: edge.id } })
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      activateMany('activate', 'active', t('activation.alreadyOn')),
      activateMany('deactivate', 'deactive', t('activation.alreadyOff')),
      {
        key: 'unbind',
        call: edges.unbind,
        label: t('action.unbind'),
        danger: true,
        disabledReason: (edge) => whyNotNode(t, 'unbind', edge),
        run: ({ id }) => unbind.mutateAsync({ body: { ids: [id] } }),
        confirm: (of) => ({
          title: t('unbind.many', { count: of.length }),
          body: (
            <>
              <p>{t('unbind.body')}</p>
              <p>
                {firstNames(
                  of.map(({ name }) => name),
                  t('andMore', { count: of.length }),
                )}
              </p>
            </>
          ),
        }),
      },
    ],
  }
}
