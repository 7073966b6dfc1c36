import { edges, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import type { BatchAction } from '../../kit/BatchBar.tsx'
import { firstNames } from '../../kit/firstNames.ts'
import { paths, withQuery } from '../../paths.ts'
import { EdgeEdit, EdgeMarks } from './EdgeEdit.tsx'
import { awaitsConfirmation, touchedByEdge, whyNot } from './edgeRules.ts'
import { UpgradeDialog } from './UpgradeDialog.tsx'

type DialogKind = 'edit' | 'marks' | 'upgrade'

/**
 * What can be done to nodes: as actions of one, as batch actions, and the dialogs that some of
 * them open, which the page has to draw.
 */
export function useEdgeActions(onDeleted?: () => void): {
  readonly actionsOf: (edge: Edge) => readonly Action[]
  readonly batchActions: readonly BatchAction<Edge>[]
  readonly dialogs: ReactNode
} {
  const { t } = useTranslation('edge')
  const [dialog, setDialog] = useState<{ kind: DialogKind; edge: Edge } | null>(null)
  const activate = useChange(edges.activate, { invalidates: touchedByEdge })
  const confirm = useChange(edges.confirm, { invalidates: touchedByEdge })
  const unbind = useChange(edges.unbind, { invalidates: touchedByEdge })
  const remove = useChange(edges.delete, { invalidates: touchedByEdge })
  // The batch's summary says what failed.
  const activateQuietly = useChange(edges.activate, { invalidates: touchedByEdge, silent: true })
  const unbindQuietly = useChange(edges.unbind, { invalidates: touchedByEdge, silent: true })
  const close = (): void => setDialog(null)

  const opening = (kind: DialogKind, edge: Edge, rule: 'edit' | 'upgrade'): Action => ({
    key: kind,
    label: t(`action.${kind}`),
    disabledReason: whyNot(t, rule, edge),
    run: () => {
      setDialog({ kind, edge })
      return undefined
    },
  })
  /** What a node in this status is wanted for first. */
  const first = (edge: Edge): readonly Action[] => {
    const { id, name, status } = edge
    const to = withQuery(paths.container.node.add(), { id })
    if (status === 'pending' || status === 'unbound') return [{ key: 'enrol', label: t('action.enrol'), href: to }]
    if (status === 'unconfirmed') return [{ key: 'confirm', label: t('action.confirm'), href: to }]
    if (awaitsConfirmation(edge)) {
      return [
        {
          key: 'keep',
          label: t('action.keep'),
          doneText: t('upgrade.kept', { name }),
          run: () => confirm.mutateAsync({ params: { id }, body: { what: 'upgrade' } }),
        },
      ]
    }
    return [{ key: 'images', label: t('action.images'), disabledReason: whyNot(t, 'use', edge), href: paths.container.node.images(id, name) }]
  }
  const activation = (edge: Edge): Action =>
    edge.activation === 'active'
      ? {
          key: 'deactivate',
          label: t('action.deactivate'),
          disabledReason: whyNot(t, 'activate', edge),
          confirm: { title: t('activation.offTitle', { name: edge.name }), body: t('activation.offBody', { count: edge.container_count }) },
          doneText: t('activation.off', { name: edge.name }),
          run: () => activate.mutateAsync({ params: { id: edge.id }, query: { action: 'deactive' } }),
        }
      : {
          key: 'activate',
          label: t('action.activate'),
          disabledReason: whyNot(t, 'activate', edge),
          doneText: t('activation.on', { name: edge.name }),
          run: () => activate.mutateAsync({ params: { id: edge.id }, query: { action: 'active' } }),
        }
  const activateMany = (key: 'activate' | 'deactivate', wanted: Edge['activation'], already: string): BatchAction<Edge> => ({
    key,
    label: t(`action.${key}`),
    disabledReason: (edge) => whyNot(t, 'activate', edge) ?? (edge.activation === wanted ? already : null),
    run: ({ id }) => activateQuietly.mutateAsync({ params: { id }, query: { action: wanted } }),
  })

  return {
    actionsOf: (edge) => [
      ...first(edge),
      activation(edge),
      opening('edit', edge, 'edit'),
      opening('marks', edge, 'edit'),
      opening('upgrade', edge, 'upgrade'),
      {
        key: 'unbind',
        label: t('action.unbind'),
        danger: true,
        disabledReason: whyNot(t, 'unbind', edge),
        confirm: { title: t('unbind.title', { name: edge.name }), body: t('unbind.body') },
        doneText: t('unbind.done', { name: edge.name }),
        run: () => unbind.mutateAsync({ body: { ids: [edge.id] } }),
      },
      {
        key: 'delete',
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNot(t, 'delete', edge),
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
        label: t('action.unbind'),
        danger: true,
        disabledReason: (edge) => whyNot(t, 'unbind', edge),
        run: ({ id }) => unbindQuietly.mutateAsync({ body: { ids: [id] } }),
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
    dialogs: (
      <>
        {dialog?.kind === 'edit' && <EdgeEdit edge={dialog.edge} onClose={close} />}
        {dialog?.kind === 'marks' && <EdgeMarks edge={dialog.edge} onClose={close} />}
        {dialog?.kind === 'upgrade' && <UpgradeDialog edge={dialog.edge} onClose={close} />}
      </>
    ),
  }
}
