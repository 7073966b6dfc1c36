import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { users, type User } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { useDialog } from '../../kit/dialogs.tsx'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField } from '../../kit/NameFields.tsx'
import { useCurrentUser } from '../../session/user.ts'
import { OneTimePassword } from './OneTimePassword.tsx'
import { invalidatedByUser } from './invalidated.ts'
import './identity.css'

type Detail = ResponseOf<typeof users.get>
/** A list does not tell all. */
export type KeptUser = User & Partial<Pick<Detail, 'frozen_until' | 'second_factor'>>

/** What can be done to a user. */
export function useUserActions(onDeleted?: () => void): { readonly actionsOf: (user: KeptUser) => readonly Action[] } {
  const { t } = useTranslation('identity')
  const me = useCurrentUser()
  const openDialog = useDialog()
  const act = useChange(users.action, { invalidates: invalidatedByUser })
  const remove = useChange(users.delete, { invalidates: invalidatedByUser })

  const actionsOf = (user: KeptUser): readonly Action[] => {
    const { id, name } = user
    const off = user.id === me?.id ? t('user.self') : user.kind === 0 && me?.kind !== 0 ? t('user.ofSystem') : null
    const does = (action: BodyOf<typeof users.action>['action']) => () => act.mutateAsync({ params: { id }, body: { action } })
    const all: Record<
      'edit' | 'approve' | 'reject' | 'enable' | 'disable' | 'unfreeze' | 'resetPassword' | 'signOut' | 'resetSecondFactor' | 'delete',
      Action
    > = {
      edit: { key: 'edit', call: users.update, label: t('action.edit'), dialog: (close) => <EditDialog user={user} onClose={close} /> },
      approve: {
        key: 'approve',
        call: users.action,
        label: t('user.approve'),
        confirm: { title: t('user.approveTitle', { name }), body: t('user.approveBody') },
        doneText: t('user.approved', { name }),
        run: does('enable'),
      },
      reject: {
        key: 'reject',
        call: users.action,
        label: t('user.reject'),
        danger: true,
        confirm: { title: t('user.rejectTitle', { name }), body: t('user.rejectBody') },
        doneText: t('user.rejected', { name }),
        run: does('disable'),
      },
      enable: { key: 'enable', call: users.action, label: t('user.enable'), doneText: t('user.enabled', { name }), run: does('enable') },
      disable: {
        key: 'disable',
        call: users.action,
        label: t('user.disable'),
        danger: true,
        confirm: { title: t('user.disableTitle', { name }), body: t('user.disableBody') },
        doneText: t('user.disabled', { name }),
        run: does('disable'),
      },
      unfreeze: { key: 'unfreeze', call: users.action, label: t('user.unfreeze'), doneText: t('user.unfrozen', { name }), run: does('unfreeze') },
      resetPassword: {
        key: 'resetPassword',
        call: users.action,
        label: t('user.resetPassword'),
        danger: true,
        confirm: { title: t('user.resetTitle', { name }), body: t('user.resetBody') },
        run: async () => {
          const { one_time_password } = await does('resetPassword')()
          if (one_time_password !== null) openDialog((close) => <OneTimePassword name={name} password={one_time_password} onClose={close} />)
        },
      },
      signOut: {
        key: 'signOut',
        call: users.action,
        label: t('user.signOut'),
        danger: true,
        confirm: { title: t('user.signOutTitle', { name }), body: t('user.signOutBody') },
        doneText: t('user.signedOut', { name }),
        run: does('signOut'),
      },
      resetSecondFactor: {
        key: 'resetSecondFactor',
        call: users.action,
        label: t('user.resetSecondFactor'),
        danger: true,
        confirm: { title: t('user.resetSecondTitle', { name }), body: t('user.resetSecondBody') },
        doneText: t('user.secondReset', { name }),
        run: does('resetSecondFactor'),
      },
      delete: {
        key: 'delete',
        call: users.delete,
        label: t('action.delete'),
        danger: true,
        confirm: { title: t('user.deleteTitle', { name }), body: <DeleteLoses />, typeToConfirm: name },
        doneText: t('deleted', { name }),
        run: async () => {
          await remove.mutateAsync({ params: { id } })
          onDeleted?.()
        },
      },
    }
    const fitting = [
      ...(user.status === 'pending' ? [all.approve, all.reject] : []),
      ...(user.frozen_until !== null && user.frozen_until !== undefined ? [all.unfreeze] : []),
      all.edit,
      ...(user.status === 'disabled' ? [all.enable] : []),
      ...(user.status === 'active' ? [all.disable] : []),
      all.resetPassword,
      all.signOut,
      ...(user.second_factor === true ? [all.resetSecondFactor] : []),
      all.delete,
    ]
    return off === null ? fitting : fitting.map((action) => ({ ...action, disabledReason: off }))
  }
  return { actionsOf }
}

function DeleteLoses() {
  const { t } = useTranslation('identity')
  return (
    <>
      {t('user.deleteWhat')}
      <ul className="identity-what">
        {(['sessions', 'name', 'rights', 'files', 'stays'] as const).map((what) => (
          <li key={what}>{t(`user.deleteLoses.${what}`)}</li>
        ))}
      </ul>
    </>
  )
}

interface Values {
  nickname: string
  description: string
  phone: string
  email: string
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

function EditDialog({ user, onClose }: Dialog<{ user: User }>) {
  const { t } = useTranslation('identity')
  const update = useChange(users.update, { invalidates: invalidatedByUser, silent: true })
  const { shape } = users.update.body
  return (
    <FormDialog<Values>
      title={t('user.editTitle', { name: user.name })}
      okText={t('save')}
      initialValues={{
        nickname: user.nickname === user.name ? '' : user.nickname,
        description: user.description,
        phone: user.phone ?? '',
        email: user.email ?? '',
      }}
      onSubmit={({ nickname, description, phone, email }) =>
        update.mutateAsync({ params: { id: user.id }, body: { nickname, description, phone: orNull(phone), email: orNull(email) } })
      }
      doneText={t('saved', { name: user.name })}
      onClose={onClose}
    >
      <ContactFields shape={shape} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

/** What somebody is called and reached by; cleared, there is none. */
export function ContactFields({
  shape,
}: {
  readonly shape:
    | Pick<(typeof users)['update']['body']['shape'], 'nickname' | 'phone' | 'email'>
    | Pick<(typeof users)['create']['body']['shape'], 'nickname' | 'phone' | 'email'>
}) {
  const { t } = useTranslation('identity')
  return (
    <>
      <TextField name="nickname" label={t('user.nickname')} schema={shape.nickname} required={false} />
      <TextField name="phone" label={t('column.phone')} schema={shape.phone} required={false} type="tel" />
      <TextField name="email" label={t('column.email')} extra={t('user.contactNote')} schema={shape.email} required={false} type="email" />
    </>
  )
}
