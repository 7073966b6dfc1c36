import Select from 'antd/es/select'
import { customRoles } from '@zhisuan/contract/iam/role'
import { policies } from '@zhisuan/contract/iam/policy'
import { projects } from '@zhisuan/contract/issue/project'
import { tenantRoles } from '@zhisuan/contract/roles'
import { users } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../i18n.ts'
import { useCall } from '../api/hooks.ts'
import { actionText, matchesAction, serviceText } from './actionText.ts'
import { labelled } from './fields.tsx'
import { useKeeping } from '../session/keeping.ts'
import { useRoleName } from './roleNames.ts'
import { SearchSelect } from './SearchSelect.tsx'
import { useVocabulary } from './useVocabulary.ts'

interface Control {
  readonly label: string
  /** One that may be chosen before it was found. */
  readonly known?: { readonly id: string; readonly name: string } | undefined
  readonly id?: string
  readonly value?: string | undefined
  readonly onChange?: (id: string | undefined) => void
}

const withNote = (name: string, note: string | null): string => (note === null || note === '' || note === name ? name : `${name}（${note}）`)

/** @param bpId of one organisation only */
export function UserSelect({ bpId, ...control }: Control & { readonly bpId?: string | null }) {
  const { t } = useTranslation('kit')
  return (
    <SearchSelect
      {...control}
      call={users.list}
      {...(typeof bpId === 'string' && { input: { query: { bp_id: bpId } } })}
      rows={({ items }) => items}
      nameOf={({ name, nickname }) => withNote(name, nickname)}
      placeholder={t('search.user')}
    />
  )
}

export const UserField = labelled(UserSelect)

export function PolicySelect({ platformOnly = false, ...control }: Control & { readonly platformOnly?: boolean }) {
  const { t } = useTranslation('kit')
  return (
    <SearchSelect
      {...control}
      call={policies.list}
      {...(platformOnly && { input: { query: { owner: 'platform' } } })}
      rows={({ items }) => items}
      nameOf={({ name, bp_name, system }) => withNote(name, system ? t('search.systemMade') : bp_name)}
      placeholder={t('search.policy')}
    />
  )
}

export const PolicyField = labelled(PolicySelect)

export function RoleSelect(control: Control) {
  const { t } = useTranslation('kit')
  const nameOf = useRoleName()
  // People search built-in ones by what they are called here; the server knows their keys.
  const { data } = useCall(customRoles.list, { query: { built_in: 'true', page_size: 100 } }, { silent: true })
  const { everybody } = useKeeping()
  const builtIn = (data?.items ?? [])
    .filter(({ base }) => everybody || tenantRoles.some((role) => role === base))
    .map((role) => ({ id: role.id, name: nameOf(role) }))
  return (
    <SearchSelect
      {...control}
      call={customRoles.list}
      input={{ query: { built_in: 'false' } }}
      local={builtIn}
      rows={({ items }) => items}
      nameOf={(role) => withNote(nameOf(role), role.system ? t('search.systemMade') : role.bp_name)}
      placeholder={t('search.role')}
    />
  )
}

export const RoleField = labelled(RoleSelect)

export function ProjectSelect(control: Control) {
  const { t } = useTranslation('kit')
  return (
    <SearchSelect
      {...control}
      call={projects.list}
      rows={({ items }) => items}
      nameOf={({ name, bp_name }) => withNote(name, bp_name)}
      placeholder={t('search.project')}
    />
  )
}

export const ProjectField = labelled(ProjectSelect)

/** One action of all there are. */
export function OneActionSelect({ id, label, value, onChange }: Control) {
  const { t } = useTranslation('kit')
  const { vocabulary } = useVocabulary()
  return (
    <Select<string>
      {...(id !== undefined && { id })}
      aria-label={label}
      className="zs-full"
      // Of a group of them the single ones are asked about.
      showSearch={{ filterOption: (text, option) => option?.value !== undefined && matchesAction(String(option.value), text) }}
      loading={vocabulary === undefined}
      placeholder={t('search.action')}
      value={value ?? null}
      options={(vocabulary?.services ?? []).map((service) => ({
        label: serviceText(service.id, [service]),
        options: service.actions.map((action) => ({
          value: action.id,
          label: actionText(action.id),
          title: action.id,
        })),
      }))}
      optionRender={({ label: name, value: action }) => (
        <>
          {name} <span className="zs-code zs-soft">{action}</span>
        </>
      )}
      onChange={(action: string) => onChange?.(action)}
    />
  )
}

export const ActionField = labelled(OneActionSelect)
