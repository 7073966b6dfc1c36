import { edges } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../i18n.ts'
import { paths } from '../paths.ts'
import { useCurrentUser } from '../session/user.ts'
import type { CreateAction, EmptyText } from './RowsTable.tsx'

/** What stands in lists of what runs on nodes while there is no node: that one is needed first, and the way to it. Null where there is one. */
export function useWithoutNode(): { readonly empty: EmptyText; readonly create: CreateAction } | null {
  const { t } = useTranslation('kit')
  const user = useCurrentUser()
  if (user === null || user.offers.includes('node')) return null
  return {
    empty: { title: t('withoutNode.title'), note: t('withoutNode.note') },
    create: { call: edges.create, label: t('withoutNode.add'), href: paths.container.node.add() },
  }
}
