import type { ResponseOf } from '@zhisuan/contract/define'
import { keptProjects } from '@zhisuan/contract/iam/project'
import type { users } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { ActionButton, ActionMenu } from '../../kit/actions.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { Field } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SearchSelect } from '../../kit/SearchSelect.tsx'
import { invalidatedByProject } from './invalidated.ts'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

type Detail = ResponseOf<typeof users.get>

/** Where they work. */
export function UserProjects({ user }: { readonly user: Detail }) {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  const remove = useChange(keptProjects.removeMember, { invalidates: invalidatedByProject })
  const { bp_id } = user
  if (bp_id === null) return <EmptyState title={t('user.noOrganisation')} />
  const join = (
    <ActionButton
      action={{
        key: 'join',
        call: keptProjects.addMember,
        label: t('user.joinProject'),
        dialog: (close) => <JoinDialog user={user} bpId={bp_id} onClose={close} />,
      }}
    />
  )
  return (
    <>
      {user.projects.length === 0 ? (
        <EmptyState title={t('user.projectsEmpty')} action={join}>
          {t('user.projectsEmptyNote')}
        </EmptyState>
      ) : (
        <>
          {join}
          <ul className="zs-list identity-rows">
            {user.projects.map(({ id, name }) => (
              <li key={id}>
                <Link to={pages.project.detail(id)}>{name}</Link>
                <ActionMenu
                  label={name}
                  actions={[
                    {
                      key: 'remove',
                      call: keptProjects.removeMember,
                      label: t('action.remove'),
                      danger: true,
                      confirm: { title: t('project.removeTitle', { project: name, name: user.name }), body: t('project.removeBody') },
                      doneText: t('project.removed', { name: user.name }),
                      run: () => remove.mutateAsync({ params: { id, user_id: user.id } }),
                    },
                  ]}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function JoinDialog({ user, bpId, onClose }: Dialog<{ user: Detail; bpId: string }>) {
  const { t } = useTranslation(['identity', 'kit'])
  const add = useChange(keptProjects.addMember, { invalidates: invalidatedByProject, silent: true })
  const label = t('user.detailTab.projects')
  return (
    <FormDialog<{ project_id: string }>
      title={t('user.joinTitle', { name: user.name })}
      okText={t('user.joinProject')}
      initialValues={{}}
      onSubmit={({ project_id }) => add.mutateAsync({ params: { id: project_id }, body: { user_id: user.id } })}
      doneText={t('user.joined')}
      onClose={onClose}
    >
      <Field name="project_id" label={label} extra={t('user.joinNote')} missing={t('required')}>
        <SearchSelect
          call={keptProjects.list}
          input={{ query: { bp_id: bpId } }}
          rows={({ items }) => items}
          nameOf={({ name }) => name}
          label={label}
          placeholder={t('kit:search.project')}
        />
      </Field>
    </FormDialog>
  )
}
