import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import type { ResponseOf } from '@zhisuan/contract/define'
import { tenantRoles } from '@zhisuan/contract/roles'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { copyText } from '../../kit/copy.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { RadioField, TextField } from '../../kit/fields.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import * as format from '../../kit/format.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { paths, withQuery } from '../../paths.ts'
import { useRoleName } from '../../kit/roleNames.ts'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { NewcomerRolesField } from './NewcomerRoles.tsx'
import { invalidatedByInvitation } from './invalidated.ts'
import { useKeeping } from '../../session/keeping.ts'

/** A built-in role, or others that are chosen below. */
const choices = [...tenantRoles, 'chosen'] as const

interface Values {
  bp_id?: string
  role: (typeof choices)[number]
  role_ids?: string[]
  note: string
  days: number
}

const { shape } = invitations.create.body

type Made = ResponseOf<typeof invitations.create>

/** Asks somebody in: to what, and until when. */
export function InviteDialog({ organisation, onMade, onClose }: Dialog<{ organisation: Named | undefined; onMade: (made: Made) => void }>) {
  const { t } = useTranslation('identity')
  const { everybody } = useKeeping()
  const roleName = useRoleName()
  const [form] = Form.useForm<Values>()
  const chosen = Form.useWatch('role', form) === 'chosen'
  const of = Form.useWatch('bp_id', form)
  const create = useChange(invitations.create, { invalidates: invalidatedByInvitation, silent: true, onDone: onMade })
  return (
    <FormDialog<Values>
      form={form}
      title={t('invitation.title')}
      okText={t('invitation.submit')}
      initialValues={{ role: 'TENANT', note: '', days: 7 }}
      onSubmit={({ bp_id, role, role_ids = [], ...values }) =>
        create.mutateAsync({
          body: { ...values, ...(role === 'chosen' ? { role_ids } : { role }), bp_id: organisation?.id ?? bp_id ?? null },
        })
      }
      doneText={t('invitation.done')}
      onClose={onClose}
    >
      {everybody && organisation === undefined && <OrganisationField name="bp_id" label={t('invitation.organisation')} missing={t('required')} />}
      <RadioField
        name="role"
        label={t('invitation.role')}
        values={choices}
        labelOf={(value) => (value === 'chosen' ? t('invitation.chosenRoles') : roleName({ name: value }))}
      />
      {chosen && (
        <NewcomerRolesField
          name="role_ids"
          label={t('invitation.roles')}
          extra={t('newcomer.note')}
          missing={t('required')}
          builtIn={[]}
          bpId={organisation?.id ?? of}
        />
      )}
      <NumberField name="days" label={t('invitation.days')} extra={t('invitation.daysTip')} schema={shape.days} />
      <TextField name="note" label={t('invitation.note')} extra={t('invitation.noteTip')} schema={shape.note} />
    </FormDialog>
  )
}

/** The link, which is told once; closed only by who says that they have kept it. */
export function LinkDialog({ made, onClose }: Dialog<{ made: Made }>) {
  const { t } = useTranslation('identity')
  useReturnFocus()
  const link = `${location.origin}${withQuery(paths.register(), { invitation: made.token })}`
  return (
    <Modal
      open
      title={t('invitation.done')}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      width={560}
      footer={[
        <Button key="copy" onClick={() => void copyText(link)}>
          {t('invitation.copy')}
        </Button>,
        <Button key="close" type="primary" onClick={onClose}>
          {t('invitation.close')}
        </Button>,
      ]}
    >
      <p>{t('invitation.linkNote', { at: format.dateTime(made.expires_at) })}</p>
      <Input.TextArea readOnly autoSize aria-label={t('invitation.link')} value={link} onFocus={({ target }) => target.select()} />
    </Modal>
  )
}
