import { registryUsers, type RegistryUser } from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useOrganisationFilter } from '../../kit/useOrganisationFilter.tsx'

/** Who has a password for the registries, and whether it is used. */
export default function RegistryUserList() {
  const { t } = useTranslation('mirror')
  const { organisation, control } = useOrganisationFilter()
  const remove = useChange(registryUsers.delete, { invalidates: [registryUsers.list], silent: true })
  return (
    <ResourceTable
      call={registryUsers.list}
      input={{ query: { ...(organisation !== undefined && { bp_id: organisation.id }) } }}
      columns={[
        col.name<RegistryUser>('username', t('column.username'), ({ username }) => username, { sort: true }),
        col.text<RegistryUser>('user', t('column.user'), ({ user }) => user.name, { width: 160 }),
        col.organisation<RegistryUser>(t('column.organisation'), { when: true }),
        col.date<RegistryUser>('set_at', t('column.setAt'), ({ set_at }) => set_at, { sort: true }),
        col.date<RegistryUser>('used_at', t('column.usedAt'), ({ used_at }) => used_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('user.keyword'))]}
      toolbar={control}
      rowActions={({ id, username: name }) => [
        {
          key: 'delete',
          call: registryUsers.delete,
          label: t('user.delete'),
          danger: true,
          confirm: { title: t('user.deleteTitle', { name }), body: t('user.deleteBody') },
          doneText: t('user.deleted', { name }),
          run: () => remove.mutateAsync({ params: { id } }),
        },
      ]}
      empty={{ title: t('user.empty'), note: t('user.emptyNote') }}
    />
  )
}
