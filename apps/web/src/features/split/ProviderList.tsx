import { splitProviders, type SplitProvider } from '@zhisuan/contract/split/provider'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { providerTones } from './splitTexts.ts'

/** Providers, with what they were paid and what waits. */
export default function ProviderList() {
  const { t } = useTranslation('split')
  return (
    <ResourceTable
      call={splitProviders.list}
      columns={[
        col.name<SplitProvider>('name', t('column.provider'), ({ name }) => name, { width: 200, to: ({ id }) => paths.split.provider.detail(id) }),
        col.status<SplitProvider>('status', t('column.status'), ({ status }) => ({ tone: providerTones[status], text: t(`providerStatus.${status}`) }), {
          width: 110,
        }),
        col.text<SplitProvider>('bp', t('column.organisation'), ({ bp_name }) => bp_name, { width: 160 }),
        col.number<SplitProvider>('cards', t('column.cards'), ({ card_count }) => card_count, { width: 90 }),
        col.number<SplitProvider>('contracts', t('column.contracts'), ({ contract_count }) => contract_count, { width: 90 }),
        col.number<SplitProvider>('accounts', t('column.accounts'), ({ account_count }) => account_count, { width: 90 }),
        col.money<SplitProvider>('paid', t('column.paid'), ({ paid }) => paid, { width: 130 }),
        col.money<SplitProvider>('waiting', t('column.waiting'), ({ waiting }) => waiting, { width: 130 }),
        col.date<SplitProvider>('created_at', t('column.created'), ({ created_at }) => created_at),
      ]}
      empty={{ title: t('provider.empty'), note: t('provider.emptyNote') }}
    />
  )
}
