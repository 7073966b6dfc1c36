import Button from 'antd/es/button'
import { keystoneProjects, keystoneProjectStates, type KeystoneProject, type KeystoneProjectState } from '@zhisuan/contract/compute/project'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { CloudTable } from '../CloudTable.tsx'
import { levelOf } from '../../../kit/quotaLines.ts'
import { amountText, tightest } from './quota.ts'
import './tenancy.css'
import { useProjectActions } from './useProjectActions.tsx'

/** What sets this list apart in the address of the page that it stands on. */
export const projectListName = 'projects'

const tones: Readonly<Record<KeystoneProjectState, StatusTone>> = { owned: 'good', orphaned: 'warning', missing: 'bad', foreign: 'rest' }

/** The projects of a cloud's Keystone, for who runs the platform: whose each is, what it holds, how much it may. */
export function ProjectList({ cloudId }: { readonly cloudId: string }) {
  const { t } = useTranslation('computeTenancy')
  const { actionsOf } = useProjectActions(cloudId)
  return (
    <div className="cq-list">
      <CloudTable
        call={keystoneProjects.list}
        cloudId={cloudId}
        name={projectListName}
        columns={() => projectColumns(t, cloudId)}
        filters={[filter.oneOf('state', t('column.state'), keystoneProjectStates, (value) => t(`states.${value}`)), filter.keyword(t('keyword'))]}
        textOf={(project) => `${project.name} ${project.id} ${project.description} ${ownerText(project)}`}
        matches={{ state: ({ state }, value) => state === value }}
        sortBy={{
          name: ({ name }) => name,
          owner: (project) => ownerText(project) || null,
          state: ({ state }) => keystoneProjectStates.indexOf(state),
          since: ({ since }) => since,
        }}
        sortFirst="state"
        rowActions={actionsOf}
        empty={{ title: t('empty'), note: t('emptyNote') }}
      />
    </div>
  )
}

/** The organisation, and its project where it is one's. */
export const ownerText = ({ bp_name, project_name }: KeystoneProject): string => [bp_name, project_name].filter((name) => name !== null).join(' / ')

const noteOf = (t: TFunction<'computeTenancy'>, { registration, enabled, adopted, state, bp_id }: KeystoneProject): string =>
  [
    ...(registration ? [t('registration')] : []),
    ...(adopted ? [t('adopted')] : []),
    ...(state === 'orphaned' && bp_id !== null ? [t('gone')] : []),
    ...(enabled ? [] : [t('disabled')]),
  ].join('，')

const projectColumns = (t: TFunction<'computeTenancy'>, cloudId: string): readonly Column<KeystoneProject>[] => [
  col.name('name', t('column.name'), ({ name }) => name, { sort: true, width: 230, note: ({ id }) => <span className="zs-code zs-cut">{id}</span> }),
  col.text('owner', t('column.owner'), ownerText, { sort: true, width: 150 }),
  col.status('state', t('column.state'), (project) => ({ tone: tones[project.state], text: t(`states.${project.state}`), note: noteOf(t, project) }), {
    sort: true,
    width: 110,
  }),
  col.custom('use', t('column.use'), (project) => <UseOnDemand cloudId={cloudId} project={project} />, { width: 190 }),
  col.date('since', t('column.since'), ({ since }) => since, { sort: true, off: true }),
]

const counted = ['instances', 'volumes', 'networks', 'floating_ips'] as const

/** Asked of five services for each project: only of those that somebody wants to know it of. */
function UseOnDemand({ cloudId, project: { id, name } }: { readonly cloudId: string; readonly project: KeystoneProject }) {
  const { t } = useTranslation('computeTenancy')
  const [asked, setAsked] = useState(false)
  if (asked) return <Use cloudId={cloudId} id={id} />
  return (
    <Button type="link" size="small" aria-label={t('use.showOf', { name })} onClick={() => setAsked(true)}>
      {t('use.show')}
    </Button>
  )
}

/** What a project holds, and what of its quotas runs out first. */
function Use({ cloudId, id }: { readonly cloudId: string; readonly id: string }) {
  const { t } = useTranslation('computeTenancy')
  const { data, error } = useCall(keystoneProjects.quota, { params: { cloud_id: cloudId, id } }, { silent: true })
  if (data === undefined) return <span className="zs-soft">{error === null ? '…' : t('use.failed')}</span>
  const { kinds, failed } = data
  const held = counted.flatMap((kind) => {
    const used = kinds[kind]?.used ?? 0
    return used === 0 ? [] : [t('use.of', { kind: t(`kinds.${kind}`), used: amountText(kind, used) })]
  })
  const first = tightest(kinds)
  const most = first === null ? undefined : kinds[first]
  const level = most === undefined ? 'fine' : levelOf(most)
  return (
    <span className="cq-use">
      {held.length === 0 ? <span className="zs-soft">{t('use.none')}</span> : held.join('，')}
      {first !== null && most !== undefined && level !== 'fine' && (
        <span className={`zs-name-note cq-use cq-${level}`}>
          {t('use.tightest', { kind: t(`kinds.${first}`), used: amountText(first, most.used), limit: amountText(first, most.limit ?? 0) })}
        </span>
      )}
      {failed.length > 0 && <span className="zs-name-note cq-use">{t('use.partly')}</span>}
    </span>
  )
}
