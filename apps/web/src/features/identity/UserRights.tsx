import Tag from 'antd/es/tag'
import type { ResponseOf } from '@zhisuan/contract/define'
import { customRoles } from '@zhisuan/contract/iam/role'
import { organisations, type users } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { ActionButton, ActionMenu } from '../../kit/actions.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { withQuery } from '../../paths.ts'
import { HolderPolicies } from '../iam/HolderPolicies.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { RoleField } from '../../kit/identitySelects.tsx'
import { Boundary } from './Boundary.tsx'
import { invalidatedByUserRole } from './invalidated.ts'
import { useBuiltInRoleId } from './useBuiltInRoleId.ts'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

type Detail = ResponseOf<typeof users.get>

/** Their roles, what they were given besides, and what bounds it all. */
export function UserRights({ user }: { readonly user: Detail }) {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  const { data: organisation } = useCall(organisations.get, { params: { id: user.bp_id ?? '' } }, { silent: true, enabled: user.bp_id !== null })
  return (
    <>
      <Roles user={user} />
      <section className="identity-section" aria-labelledby="identity-policies">
        <h2 id="identity-policies">{t('user.policiesTitle')}</h2>
        <HolderPolicies kind="user" id={user.id} empty={t('user.policiesEmpty')} emptyNote={t('user.policiesEmptyNote')} />
      </section>
      <section className="identity-section" aria-labelledby="identity-boundary">
        <h2 id="identity-boundary">{t('boundary.title')}</h2>
        <Boundary of="user" id={user.id} name={user.name} current={user.boundary} />
        {organisation?.boundary != null && (
          <p>
            {t('boundary.ofOrganisation')}{' '}
            <Link to={pages.policy.version(organisation.boundary.id)} className="zs-text-link">
              {organisation.boundary.name}
            </Link>
          </p>
        )}
        <p>
          <Link to={withQuery(pages.authorize(), { tab: 'why', user: user.id })}>{t('user.why')}</Link>
        </p>
      </section>
    </>
  )
}

function Roles({ user }: { readonly user: Detail }) {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  const nameOf = useRoleName()
  const idOf = useBuiltInRoleId()
  const remove = useChange(customRoles.removeMember, { invalidates: invalidatedByUserRole })
  const held = [
    ...user.built_in_roles.map((name) => ({ id: idOf(name), name: name as string, builtIn: true })),
    ...user.custom_roles.map((role) => ({ ...role, builtIn: false })),
  ]
  return (
    <section className="identity-section" aria-labelledby="identity-roles">
      <div className="identity-head">
        <h2 className="zs-heading" id="identity-roles">
          {t('user.rolesTitle')}
        </h2>
        <ActionButton
          look="default"
          action={{ key: 'add', call: customRoles.addMember, label: t('user.addRole'), dialog: (close) => <RoleDialog user={user} onClose={close} /> }}
        />
      </div>
      {held.length === 0 && <p className="zs-soft">{t('user.noRoles')}</p>}
      <ul className="zs-list identity-rows">
        {held.map(({ id, name, builtIn }) => {
          const role = nameOf({ name })
          return (
            <li key={name}>
              {id === undefined ? role : <Link to={pages.role.detail(id)}>{role}</Link>}
              <Tag>{t(builtIn ? 'user.builtIn' : 'user.custom')}</Tag>
              {id !== undefined && (
                <ActionMenu
                  label={role}
                  actions={[
                    {
                      key: 'remove',
                      call: customRoles.removeMember,
                      label: t('action.remove'),
                      danger: true,
                      confirm: { title: t('user.removeRoleTitle', { name: user.name, role }), body: t('user.removeRoleBody') },
                      doneText: t('user.roleRemoved', { role }),
                      run: () => remove.mutateAsync({ params: { id, user_id: user.id } }),
                    },
                  ]}
                />
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function RoleDialog({ user, onClose }: Dialog<{ user: Detail }>) {
  const { t } = useTranslation('identity')
  const add = useChange(customRoles.addMember, { invalidates: invalidatedByUserRole, silent: true })
  return (
    <FormDialog<{ role_id: string }>
      title={t('user.addRoleTitle', { name: user.name })}
      okText={t('user.addRole')}
      initialValues={{}}
      onSubmit={({ role_id }) => add.mutateAsync({ params: { id: role_id }, body: { user_id: user.id } })}
      doneText={t('user.roleAdded')}
      onClose={onClose}
    >
      <RoleField name="role_id" label={t('column.role')} extra={t('user.addRoleNote')} missing={t('required')} />
    </FormDialog>
  )
}
