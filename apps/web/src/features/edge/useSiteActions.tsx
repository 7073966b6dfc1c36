import { sites, type Site } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { invalidatedBySite } from './edgeRules.ts'
import { SiteDialog } from './SiteDialog.tsx'

/** What an administrator can do to a site. */
export function useSiteActions(then: { readonly onDeleted?: () => void; readonly onSaved?: (site: Site) => void } = {}): {
  readonly actionsOf: (site: Site) => readonly Action[]
} {
  const { t } = useTranslation('edge')
  const remove = useChange(sites.delete, { invalidates: invalidatedBySite })
  return {
    actionsOf: (site) => {
      const count = site.edge_count + site.gateway_count
      return [
        {
          key: 'edit',
          call: sites.update,
          label: t('action.edit'),
          dialog: (close) => <SiteDialog site={site} {...(then.onSaved !== undefined && { onSaved: then.onSaved })} onClose={close} />,
        },
        {
          key: 'delete',
          call: sites.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: count > 0 ? t('site.hasEdges', { count }) : null,
          confirm: { title: t('site.deleteTitle', { name: site.name }), body: t('site.deleteBody') },
          doneText: t('delete.done', { name: site.name }),
          run: async () => {
            await remove.mutateAsync({ params: { id: site.id } })
            then.onDeleted?.()
          },
        },
      ]
    },
  }
}
