import { contractStatuses, splitContracts, type SplitContract } from '@zhisuan/contract/split/contract'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { contractTones } from './splitTexts.ts'
import { TermsText } from './TermsText.tsx'

const ContractDialog = lazy(() => import('./ContractDialog.tsx'))

/** What was agreed with providers. */
export default function ContractList() {
  const { t } = useTranslation('split')
  return (
    <ResourceTable
      call={splitContracts.list}
      columns={[
        col.name<SplitContract>('name', t('column.name'), ({ name }) => name, { width: 190, sort: true, to: ({ id }) => paths.split.management.detail(id) }),
        col.text<SplitContract>('provider', t('column.provider'), ({ provider }) => provider.name, { width: 150 }),
        col.status<SplitContract>('status', t('column.status'), ({ status }) => ({ tone: contractTones[status], text: t(`contractStatus.${status}`) }), {
          width: 110,
        }),
        col.custom<SplitContract>(
          'terms',
          t('column.terms'),
          ({ current, draft }) => {
            const version = current ?? draft
            return version === null ? null : <TermsText terms={version.terms} />
          },
          { width: 320 },
        ),
        col.text<SplitContract>('from', t('column.from'), ({ current, draft }) => (current ?? draft)?.from, { width: 110 }),
        col.text<SplitContract>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
        col.date<SplitContract>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.oneOf('status', t('column.status'), contractStatuses, (one) => t(`contractStatus.${one}`)), filter.keyword(t('contract.keyword'))]}
      create={{ call: splitContracts.create, label: t('contract.create'), dialog: (close) => <ContractDialog contract={null} onClose={close} /> }}
      empty={{ title: t('contract.empty'), note: t('contract.emptyNote') }}
    />
  )
}
