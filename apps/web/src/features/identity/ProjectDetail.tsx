import Skeleton from 'antd/es/skeleton'
import { keptProjects, type KeptProject } from '@zhisuan/contract/iam/project'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne, useCall, useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { UserField } from '../../kit/identitySelects.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable, type RowOf } from '../../kit/ResourceTable.tsx'
import { withQuery } from '../../paths.ts'
import { HolderPolicies } from '../iam/HolderPolicies.tsx'
import { kindKey } from '../../kit/roleNames.ts'
import { contentText, heldOf } from './projectContents.ts'
import { invalidatedByProject } from './invalidated.ts'
import { useProjectActions } from './useProjectActions.tsx'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

type Member = RowOf<typeof keptProjects.members>

/** One project: who works in it, what belongs to it, and what its members were given. */
export default function ProjectDetail() {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(keptProjects.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = useProjectActions(() => void navigate(pages.project.list()))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.project.list() }}
      title={({ name }) => name}
      actions={actionsOf}
      facts={(project) => [
        { key: 'key', label: t('project.key'), value: <span className="zs-code">{project.key}</span> },
        {
          key: 'owner',
          label: t('project.owner'),
          value:
            project.bp_id === null ? (
              t('platform')
            ) : everybody ? (
              <Link to={withQuery(pages.partners(), { id: project.bp_id })}>{project.bp_name}</Link>
            ) : (
              project.bp_name
            ),
        },
        { key: 'members', label: t('column.members'), value: project.member_count },
        { key: 'created', label: t('column.created'), value: format.dateTime(project.created_at) },
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{project.id}</span> },
        { key: 'description', label: t('description'), value: project.description || format.nothing },
      ]}
      tabs={(project) => [
        { key: 'members', label: t('project.tab.members'), content: <Members project={project} /> },
        { key: 'contents', label: t('project.tab.contents'), content: <Contents id={project.id} /> },
        {
          key: 'policies',
          label: t('project.tab.policies'),
          content: <HolderPolicies kind="project" id={project.id} empty={t('project.policiesEmpty')} emptyNote={t('project.policiesEmptyNote')} />,
        },
      ]}
    />
  )
}

function Members({ project }: { readonly project: KeptProject }) {
  const { t } = useTranslation(['identity', 'account'])
  const { pages } = useKeeping()
  const remove = useChange(keptProjects.removeMember, { invalidates: invalidatedByProject })
  return (
    <ResourceTable
      name="members"
      call={keptProjects.members}
      input={{ params: { id: project.id } }}
      columns={[
        col.name<Member>('name', t('column.user'), ({ name }) => name, {
          sort: true,
          width: 240,
          to: ({ id }) => pages.user.detail(id),
          note: ({ name, nickname }) => (nickname === name ? '' : nickname),
        }),
        col.text<Member>('kind', t('column.userKind'), ({ kind }) => t(`account:kindNames.${kindKey(kind)}`), { width: 140 }),
        col.code<Member>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[filter.keyword(t('column.user'))]}
      rowActions={({ id, name }) => [
        {
          key: 'remove',
          call: keptProjects.removeMember,
          label: t('action.remove'),
          danger: true,
          confirm: { title: t('project.removeTitle', { project: project.name, name }), body: t('project.removeBody') },
          doneText: t('project.removed', { name }),
          run: () => remove.mutateAsync({ params: { id: project.id, user_id: id } }),
        },
      ]}
      create={{ call: keptProjects.addMember, label: t('project.addMember'), dialog: (close) => <MemberDialog project={project} onClose={close} /> }}
      empty={{ title: t('project.membersEmpty'), note: t('project.membersEmptyNote') }}
    />
  )
}

function MemberDialog({ project, onClose }: Dialog<{ project: KeptProject }>) {
  const { t } = useTranslation('identity')
  const add = useChange(keptProjects.addMember, { invalidates: invalidatedByProject, silent: true })
  return (
    <FormDialog<{ user_id: string }>
      title={t('project.addMemberTitle', { name: project.name })}
      okText={t('project.addMember')}
      initialValues={{}}
      onSubmit={(body) => add.mutateAsync({ params: { id: project.id }, body })}
      doneText={t('project.memberAdded')}
      onClose={onClose}
    >
      <UserField name="user_id" label={t('project.member')} extra={t('project.addMemberNote')} missing={t('required')} bpId={project.bp_id} />
    </FormDialog>
  )
}

/** How much of each kind belongs to it. */
function Contents({ id }: { readonly id: string }) {
  const { t } = useTranslation('identity')
  const { data, error, refetch } = useCall(keptProjects.contents, { params: { id } }, { silent: true, refreshMs: 5_000 })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 4 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const held = heldOf(data)
  if (held.length === 0) return <EmptyState title={t('project.contentsEmpty')}>{t('project.contentsEmptyNote')}</EmptyState>
  return (
    <ul className="zs-list identity-rows" aria-label={t('project.contentsOf')}>
      {held.map((content) => {
        const { resource, amount } = contentText(content)
        return (
          <li key={content.resource}>
            <span>{resource}</span>
            <span className="zs-number">{amount}</span>
          </li>
        )
      })}
    </ul>
  )
}
