import type { ResponseOf } from '@zhisuan/contract/define'
import { invitations, type Invitation } from '@zhisuan/contract/ums/invitation'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { withQuery } from '../../paths.ts'
import { useRoleName } from '../../kit/roleNames.ts'
import { InviteDialog, LinkDialog } from './InviteDialog.tsx'
import { invalidatedByInvitation } from './invalidated.ts'
import { useKeeping } from '../../session/keeping.ts'

const tones = { open: 'good', used: 'rest', revoked: 'rest', expired: 'warning' } as const

/** Who was asked to join, by links that are told once. */
export function InvitationTable({ name, organisation }: { readonly name?: string; readonly organisation?: Named }) {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const roleName = useRoleName()
  const [made, setMade] = useState<ResponseOf<typeof invitations.create> | null>(null)
  const revoke = useChange(invitations.revoke, { invalidates: invalidatedByInvitation })
  return (
    <>
      <ResourceTable
        name={name ?? 'invitations'}
        call={invitations.list}
        input={{ query: { ...(organisation !== undefined && { bp_id: organisation.id }) } }}
        columns={[
          col.name<Invitation>('note', t('column.note'), ({ note }) => (note === '' ? t('invitation.noNote') : note), { width: 180 }),
          col.status<Invitation>('status', t('column.state'), ({ status }) => ({ tone: tones[status], text: t(`invitation.status.${status}`) }), {
            width: 100,
          }),
          col.text<Invitation>('organisation', t('column.organisation'), ({ bp_name }) => bp_name, {
            when: everybody && organisation === undefined,
            to: ({ bp_id }) => (everybody ? withQuery(pages.partners(), { id: bp_id, tab: 'invitations' }) : null),
            width: 160,
          }),
          col.text<Invitation>(
            'role',
            t('column.role'),
            ({ role, roles }) => (roles.length === 0 ? roleName({ name: role }) : roles.map(({ name }) => name).join('、')),
            { width: 140 },
          ),
          col.text<Invitation>('used_by', t('column.usedBy'), ({ used_by }) => used_by, { width: 140 }),
          col.text<Invitation>('created_by', t('column.creator'), ({ created_by }) => created_by, { width: 120, off: true }),
          col.date<Invitation>('expires_at', t('column.expires'), ({ expires_at }) => expires_at, { sort: true }),
          col.date<Invitation>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        rowActions={({ id, status }) => [
          {
            key: 'revoke',
            call: invitations.revoke,
            label: t('invitation.revoke'),
            danger: true,
            disabledReason: status === 'open' ? null : t('invitation.notOpen', { status: t(`invitation.status.${status}`) }),
            confirm: { title: t('invitation.revokeTitle'), body: t('invitation.revokeBody') },
            doneText: t('invitation.revoked'),
            run: () => revoke.mutateAsync({ params: { id } }),
          },
        ]}
        create={{
          call: invitations.create,
          label: t('invitation.create'),
          dialog: (close) => <InviteDialog organisation={organisation} onMade={setMade} onClose={close} />,
        }}
        empty={{ title: t('invitation.empty'), note: t('invitation.emptyNote') }}
      />

      {made !== null && <LinkDialog made={made} onClose={() => setMade(null)} />}
    </>
  )
}
