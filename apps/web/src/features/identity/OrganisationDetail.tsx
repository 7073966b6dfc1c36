import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import type { ResponseOf } from '@zhisuan/contract/define'
import { customRoles } from '@zhisuan/contract/iam/role'
import { organisations } from '@zhisuan/contract/ums/user'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useOne, useChange } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import { UserField } from '../../kit/identitySelects.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { ProjectProblems } from '../compute/tenancy/ProjectProblems.tsx'
import { Boundary } from './Boundary.tsx'
import { InvitationTable } from './InvitationTable.tsx'
import { ProjectTable } from './ProjectTable.tsx'
import { invalidatedByUserRole } from './invalidated.ts'
import { useOrganisationActions } from './useOrganisationActions.tsx'
import { UserTable } from './UserTable.tsx'
import { useBuiltInRoleId } from './useBuiltInRoleId.ts'
import { personText } from './userText.ts'
import './identity.css'

type Detail = ResponseOf<typeof organisations.get>

/** One organisation: who keeps it, who is in it, and who was asked in. */
export function OrganisationDetail({ id }: { readonly id: string }) {
  const { t } = useTranslation('identity')
  const query = useOne(organisations.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = useOrganisationActions()
  return (
    <>
      <p className="identity-back">
        <Link to={paths.iam.partners()}>{t('organisation.all')}</Link>
      </p>
      <DetailPage
        query={query}
        gone={{ to: paths.iam.partners() }}
        title={({ name }) => name}
        status={({ status }) => <StatusTag tone={status === 'active' ? 'good' : 'bad'}>{t(`organisation.status.${status}`)}</StatusTag>}
        actions={actionsOf}
        facts={(organisation) => [
          { key: 'kind', label: t('column.kind'), value: t(`organisation.kind.${organisation.kind}`) },
          { key: 'members', label: t('column.members'), value: organisation.user_count },
          { key: 'projects', label: t('organisation.projects'), value: organisation.project_count },
          {
            key: 'administrators',
            label: t('organisation.administrators'),
            value:
              organisation.administrators.length === 0
                ? t('organisation.noAdministrators')
                : organisation.administrators.map(({ id: who, name, nickname }, index) => (
                    <span key={who}>
                      {index > 0 && '、'}
                      <Link to={paths.iam.user.detail(who)}>{personText({ name, nickname })}</Link>
                    </span>
                  )),
          },
          {
            key: 'boundary',
            label: t('boundary.title'),
            value: <Boundary of="organisation" id={organisation.id} name={organisation.name} current={organisation.boundary} />,
          },
          { key: 'created', label: t('column.created'), value: format.dateTime(organisation.created_at) },
          { key: 'description', label: t('description'), value: organisation.description || format.nothing },
          { key: 'id', label: t('column.id'), value: <span className="zs-code">{organisation.id}</span> },
        ]}
        notice={({ status }) => (
          <>
            {status === 'frozen' && <Alert type="warning" showIcon className="zs-above" title={t('organisation.frozenNotice')} />}
            <ProjectProblems of={{ bp_id: id }} />
          </>
        )}
        tabs={(organisation) => [
          { key: 'members', label: t('organisation.tab.members'), content: <UserTable name="members" organisation={organisation} /> },
          { key: 'administrators', label: t('organisation.tab.administrators'), content: <Administrators organisation={organisation} /> },
          { key: 'projects', label: t('organisation.tab.projects'), content: <ProjectTable name="projects" organisation={organisation} /> },
          { key: 'invitations', label: t('organisation.tab.invitations'), content: <InvitationTable name="invitations" organisation={organisation} /> },
        ]}
      />
    </>
  )
}

/** Who has the role of a tenant's administrator. */
function Administrators({ organisation }: { readonly organisation: Detail }) {
  const { t } = useTranslation('identity')
  const [adding, setAdding] = useState(false)
  const roleId = useBuiltInRoleId()('TENANT_ADMIN')
  const remove = useChange(customRoles.removeMember, { invalidates: invalidatedByUserRole })
  const add = (
    <Button type="primary" disabled={roleId === undefined} onClick={() => setAdding(true)}>
      {t('organisation.addAdministrator')}
    </Button>
  )
  return (
    <>
      {organisation.administrators.length === 0 ? (
        <EmptyState title={t('organisation.administratorsEmpty')} action={add}>
          {t('organisation.administratorsEmptyNote')}
        </EmptyState>
      ) : (
        <>
          {add}
          <ul className="zs-list identity-rows">
            {organisation.administrators.map(({ id, name, nickname }) => (
              <li key={id}>
                <Link to={paths.iam.user.detail(id)}>{personText({ name, nickname })}</Link>
                {roleId !== undefined && (
                  <ActionMenu
                    label={name}
                    actions={[
                      {
                        key: 'remove',
                        call: customRoles.removeMember,
                        label: t('action.remove'),
                        danger: true,
                        confirm: { title: t('organisation.removeAdministratorTitle', { name }), body: t('organisation.removeAdministratorBody') },
                        doneText: t('organisation.administratorRemoved', { name }),
                        run: () => remove.mutateAsync({ params: { id: roleId, user_id: id } }),
                      },
                    ]}
                  />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {adding && roleId !== undefined && <AdministratorDialog roleId={roleId} organisation={organisation} onClose={() => setAdding(false)} />}
    </>
  )
}

function AdministratorDialog({ roleId, organisation, onClose }: Dialog<{ roleId: string; organisation: Detail }>) {
  const { t } = useTranslation('identity')
  const add = useChange(customRoles.addMember, { invalidates: invalidatedByUserRole, silent: true })
  return (
    <FormDialog<{ user_id: string }>
      title={t('organisation.addAdministrator')}
      okText={t('organisation.addAdministrator')}
      initialValues={{}}
      onSubmit={(body) => add.mutateAsync({ params: { id: roleId }, body })}
      doneText={t('organisation.administratorAdded')}
      onClose={onClose}
    >
      <UserField name="user_id" label={t('column.user')} extra={t('organisation.addAdministratorNote')} missing={t('required')} bpId={organisation.id} />
    </FormDialog>
  )
}
