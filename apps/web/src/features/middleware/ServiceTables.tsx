import {
  serviceAccounts,
  serviceCan,
  serviceDatabases,
  type DatabaseService,
  type ServiceAccount,
  type ServiceDatabase,
} from '@zhisuan/contract/middleware/service'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { invalidatedByContent } from './serviceRules.ts'

const DatabaseDialog = lazy(() => import('./DatabaseDialog.tsx'))
const AccountDialog = lazy(() => import('./AccountDialog.tsx'))

/** The databases of one, as it says itself. */
export function DatabaseTable({ service }: { readonly service: DatabaseService }) {
  const { t } = useTranslation('middleware')
  const remove = useChange(serviceDatabases.delete, { invalidates: invalidatedByContent, silent: true })
  const { id, status, name: serviceName } = service
  const busy = allowed(serviceCan, 'manage', status, t(`service.status.${status}`))
  return (
    <ResourceTable
      name="databases"
      call={serviceDatabases.list}
      input={{ params: { id } }}
      rowKey="name"
      enabled={busy === null}
      columns={[
        col.code<ServiceDatabase>('name', t('column.name'), ({ name }) => name, { width: 260 }),
        col.text<ServiceDatabase>('size', t('service.size'), ({ size_bytes }) => (size_bytes === null ? null : format.bytes(size_bytes)), { width: 160 }),
      ]}
      rowActions={({ name }) => [
        {
          key: 'delete',
          call: serviceDatabases.delete,
          label: t('delete'),
          danger: true,
          disabledReason: busy,
          confirm: {
            title: t('service.database.deleteTitle', { name }),
            body: t('service.database.deleteBody', { service: serviceName }),
            typeToConfirm: name,
          },
          doneText: t('service.database.deleted', { name }),
          run: () => remove.mutateAsync({ params: { id, name } }),
        },
      ]}
      create={{
        call: serviceDatabases.create,
        label: t('service.database.create'),
        disabledReason: busy,
        dialog: (close) => <DatabaseDialog id={id} onClose={close} />,
      }}
      empty={{ title: t('service.database.empty'), note: t('service.database.emptyNote') }}
    />
  )
}

/** Who else comes in, and into which of its databases. */
export function AccountTable({ service }: { readonly service: DatabaseService }) {
  const { t } = useTranslation('middleware')
  const remove = useChange(serviceAccounts.delete, { invalidates: invalidatedByContent, silent: true })
  const { id, status } = service
  const busy = allowed(serviceCan, 'manage', status, t(`service.status.${status}`))
  return (
    <ResourceTable
      name="accounts"
      call={serviceAccounts.list}
      input={{ params: { id } }}
      rowKey="name"
      enabled={busy === null}
      columns={[
        col.code<ServiceAccount>('name', t('column.name'), ({ name }) => name, { width: 260 }),
        col.text<ServiceAccount>('databases', t('service.account.databases'), ({ databases }) => databases.join('、') || null, { width: 320 }),
      ]}
      rowActions={({ name }) => [
        {
          key: 'delete',
          call: serviceAccounts.delete,
          label: t('delete'),
          danger: true,
          disabledReason: busy,
          confirm: { title: t('service.account.deleteTitle', { name }), body: t('service.account.deleteBody') },
          doneText: t('service.account.deleted', { name }),
          run: () => remove.mutateAsync({ params: { id, name } }),
        },
      ]}
      create={{
        call: serviceAccounts.create,
        label: t('service.account.create'),
        disabledReason: busy,
        dialog: (close) => <AccountDialog id={id} onClose={close} />,
      }}
      empty={{ title: t('service.account.empty'), note: t('service.account.emptyNote') }}
    />
  )
}
