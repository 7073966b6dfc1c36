import Select from 'antd/es/select'
import { customRoles } from '@zhisuan/contract/iam/role'
import { roles, type Role } from '@zhisuan/contract/roles'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { labelled, type Controlled } from '../../kit/fields.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { useKeeping } from '../../session/keeping.ts'

const isBuiltIn = (value: string): value is Role => roles.some((role) => role === value)

/** As the calls want them: built-in roles by their keys, others by their ids. */
export const partedRoles = (chosen: readonly string[]): { readonly roles: Role[]; readonly role_ids: string[] } => ({
  roles: chosen.filter(isBuiltIn),
  role_ids: chosen.filter((value) => !isBuiltIn(value)),
})

/**
 * What somebody new shall be: built-in roles, those that are ready for everybody, and those of the organisation.
 * @param bpId whose people they will be, where that is not one's own organisation
 */
function NewcomerRolesSelect({
  label,
  builtIn,
  bpId,
  ...control
}: Controlled<string[], { readonly label: string; readonly builtIn: readonly Role[]; readonly bpId: string | undefined }>) {
  const { t } = useTranslation('identity')
  const nameOf = useRoleName()
  const { everybody } = useKeeping()
  const ready = useCall(customRoles.list, { query: { kind: 'system', page_size: 100 } }, { silent: true })
  const own = useCall(
    customRoles.list,
    { query: { kind: 'custom', page_size: 100, ...(everybody && bpId !== undefined && { bp_id: bpId }) } },
    { silent: true, enabled: !everybody || bpId !== undefined },
  )
  const options = (of: typeof ready) => (of.data?.items ?? []).map(({ id, name, description }) => ({ value: id, label: name, note: description }))
  const groups = [
    { label: t('newcomer.builtIn'), options: builtIn.map((role) => ({ value: role as string, label: nameOf({ name: role }), note: '' })) },
    { label: t('newcomer.system'), options: options(ready) },
    { label: t('newcomer.own'), options: options(own) },
  ]
  return (
    <Select<string[]>
      {...control}
      mode="multiple"
      aria-label={label}
      optionFilterProp="label"
      loading={ready.isFetching}
      placeholder={t('newcomer.choose')}
      options={groups.filter((group) => group.options.length > 0)}
      optionRender={({ label: name, data }) => (
        <>
          {name}
          {data['note'] !== '' && data['note'] !== undefined && <div className="zs-name-note">{String(data['note'])}</div>}
        </>
      )}
    />
  )
}

export const NewcomerRolesField = labelled(NewcomerRolesSelect)
