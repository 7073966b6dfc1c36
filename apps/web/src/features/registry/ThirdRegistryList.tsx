import { preheats, thirdRegistries, type ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { invalidatedByThird, thirdTones } from './preheatRules.ts'

const ThirdRegistryDialog = lazy(() => import('./ThirdRegistryDialog.tsx'))
const PreheatDialog = lazy(() => import('./PreheatDialog.tsx'))

/** Registries of third parties: an administrator's for all, a tenant's for themselves. */
export default function ThirdRegistryList() {
  const { t } = useTranslation('mirror')
  const platform = useIsPlatform()
  const remove = useChange(thirdRegistries.delete, { invalidates: invalidatedByThird, silent: true })
  return (
    <ResourceTable
      call={thirdRegistries.list}
      columns={[
        col.name<ThirdRegistry>('name', t('column.name'), ({ name }) => name, { sort: true, note: ({ description }) => description }),
        col.code<ThirdRegistry>('address', t('column.address'), ({ address }) => address, { width: 220 }),
        col.text<ThirdRegistry>('username', t('column.username'), ({ username }) => username ?? t('third.anonymous'), { width: 140 }),
        col.status<ThirdRegistry>(
          'health',
          t('column.health'),
          ({ health, health_message, slowed_until }) => ({
            tone: thirdTones[health],
            text: t(`third.health.${health}`),
            note: slowed_until !== null ? t('third.slowedUntil', { at: format.dateTime(slowed_until) }) : health_message,
          }),
          { width: 160 },
        ),
        col.text<ThirdRegistry>('browsable', t('third.browsable'), ({ browsable }) => t(browsable ? 'third.yes' : 'third.no'), { width: 110 }),
        col.text<ThirdRegistry>('whose', t('column.organisation'), ({ bp_id, bp_name }) => (bp_id === null ? t('third.platform') : bp_name), { width: 120 }),
        col.date<ThirdRegistry>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('registry.keyword'))]}
      rowActions={(registry) => {
        const { id, name, bp_id } = registry
        const notOwn = bp_id === null && !platform ? t('third.shared') : null
        return [
          {
            key: 'preheat',
            call: preheats.createThird,
            label: t('preheat.create'),
            dialog: (close) => <PreheatDialog third={registry} onClose={close} />,
          },
          {
            key: 'edit',
            call: thirdRegistries.update,
            label: t('action.edit'),
            disabledReason: notOwn,
            dialog: (close) => <ThirdRegistryDialog registry={registry} onClose={close} />,
          },
          {
            key: 'delete',
            call: thirdRegistries.delete,
            label: t('action.delete'),
            danger: true,
            disabledReason: notOwn,
            confirm: { title: t('third.deleteTitle', { name }), body: t('third.deleteBody') },
            doneText: t('deleted', { name }),
            run: () => remove.mutateAsync({ params: { id } }),
          },
        ]
      }}
      create={{ call: thirdRegistries.create, label: t('third.create'), dialog: (close) => <ThirdRegistryDialog registry={null} onClose={close} /> }}
      empty={{ title: t('third.empty'), note: t(platform ? 'third.emptyAdmin' : 'third.emptyNote') }}
    />
  )
}
