import type { Kind } from '@zhisuan/contract/kind'
import type { UseQueryResult } from '@tanstack/react-query'
import Descriptions from 'antd/es/descriptions'
import Skeleton from 'antd/es/skeleton'
import Tabs from 'antd/es/tabs'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useSearchParams } from 'react-router'
import type { ApiError } from '../api/client.ts'
import { ActionMenu, type Action } from './actions.tsx'
import { ErrorPanel } from './ErrorPanel.tsx'
import { Gone, type GoneProps } from './Gone.tsx'
import { PageActions, PageStatus, usePageTitle } from './PageHead.tsx'
import { ticketPath } from './ticketPath.ts'

export interface Fact {
  readonly key: string
  readonly label: string
  readonly value: ReactNode
}

export interface DetailTab {
  readonly key: string
  readonly label: string
  readonly content: ReactNode
}

export interface DetailPageProps<Data> {
  /** What `useOne` answered. */
  readonly query: UseQueryResult<Data, ApiError>
  /** Said where the thing is not there, also when it goes while the page is open. */
  readonly gone: GoneProps
  readonly title: (data: NoInfer<Data>) => string
  readonly status?: (data: NoInfer<Data>) => ReactNode
  readonly actions?: (data: NoInfer<Data>) => readonly Action[]
  /** Of what a work order may be opened here; its name is the title. */
  readonly about?: (data: NoInfer<Data>) => { readonly kind: Kind; readonly id: string }
  readonly facts?: (data: NoInfer<Data>) => readonly Fact[]
  /** Between facts and tabs: what the person has to know first. */
  readonly notice?: (data: NoInfer<Data>) => ReactNode
  readonly tabs?: (data: NoInfer<Data>) => readonly DetailTab[]
  readonly children?: (data: NoInfer<Data>) => ReactNode
}

/** One thing: its name, state and actions in the head, facts below, and tabs that the address remembers. */
export function DetailPage<Data>(props: DetailPageProps<Data>) {
  const { t } = useTranslation('kit')
  const { data, error, refetch } = props.query
  const gone = error?.status === 404
  usePageTitle(data === undefined || gone ? null : props.title(data))
  if (gone) return <Gone {...props.gone} />
  if (data === undefined) {
    return error === null ? (
      <div className="zs-card" aria-busy="true">
        <Skeleton active paragraph={{ rows: 8 }} />
      </div>
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  const about = props.about?.(data)
  const actions: readonly Action[] = [
    ...(props.actions?.(data) ?? []),
    ...(about === undefined
      ? []
      : [
          {
            key: 'ticket',
            // Everybody may.
            call: null,
            label: t('action.ticket'),
            href: ticketPath({ about: { ...about, name: props.title(data) } }),
          },
        ]),
  ]
  const facts = props.facts?.(data) ?? []
  const tabs = props.tabs?.(data) ?? []
  return (
    <>
      {props.status !== undefined && <PageStatus>{props.status(data)}</PageStatus>}
      {actions.length > 0 && (
        <PageActions>
          <ActionMenu actions={actions} shown={3} look="default" label={t('action.of', { name: props.title(data) })} />
        </PageActions>
      )}
      {error !== null && <ErrorPanel error={error} title={t('error.refreshTitle')} onRetry={() => void refetch()} />}
      {props.notice?.(data)}
      {facts.length > 0 && (
        <div className="zs-card">
          <Descriptions
            size="small"
            column={{ xs: 1, sm: 1, md: 2, lg: 2, xl: 3 }}
            items={facts.map((fact) => ({ key: fact.key, label: fact.label, children: fact.value }))}
          />
        </div>
      )}
      {tabs.length > 0 && <DetailTabs tabs={tabs} />}
      {props.children?.(data)}
    </>
  )
}

/** Tabs whose choice is in the address, beside the id of a thing that is named there; a tab's own lists keep theirs only while it is open. */
export function DetailTabs({ tabs }: { readonly tabs: readonly DetailTab[] }) {
  const [search, setSearch] = useSearchParams()
  const wanted = search.get('tab')
  const id = search.get('id')
  const active = tabs.some((tab) => tab.key === wanted) ? wanted : tabs[0]?.key
  return (
    <div className="zs-card zs-tabs">
      <Tabs
        size="small"
        activeKey={active ?? ''}
        destroyOnHidden
        items={tabs.map((tab) => ({ key: tab.key, label: tab.label, children: tab.content }))}
        onChange={(key) => setSearch({ ...(id !== null && { id }), ...(key !== tabs[0]?.key && { tab: key }) }, { replace: true })}
      />
    </div>
  )
}
