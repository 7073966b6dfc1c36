import { constants } from '@zhisuan/contract/constants'
import { splitProviders, type SplitProvider } from '@zhisuan/contract/split/provider'
import { users } from '@zhisuan/contract/ums/user'
import { useParams } from 'react-router'
import { useCall, useChange, useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { SelectField } from '../../kit/SelectField.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { BankDetails } from './BankDetails.tsx'
import { ProviderPayouts } from './Payouts.tsx'
import { RunTable } from './RunTable.tsx'
import { invalidatedBySplit, providerTones } from './splitTexts.ts'
import './split.css'

/** One provider: who may see its statements, and all that was split for it. */
export default function ProviderDetail() {
  const { t } = useTranslation('split')
  const { id = '' } = useParams()
  const query = useOne(splitProviders.get, { params: { id } }, { refreshMs: constants.listRefreshMs })
  const unbind = useChange(splitProviders.unbind, { invalidates: invalidatedBySplit, silent: true })
  return (
    <DetailPage
      query={query}
      gone={{ title: t('provider.gone'), back: t('provider.back'), to: paths.split.provider.list() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={providerTones[status]}>{t(`providerStatus.${status}`)}</StatusTag>}
      actions={(provider) => [
        { key: 'bind', call: splitProviders.bind, label: t('provider.bind'), dialog: (close) => <BindDialog provider={provider} onClose={close} /> },
      ]}
      facts={(provider) => [
        { key: 'bp', label: t('column.organisation'), value: provider.bp_name ?? format.nothing },
        { key: 'cards', label: t('column.cards'), value: format.number(provider.card_count) },
        { key: 'paid', label: t('column.paid'), value: format.exactMoney(provider.paid) },
        { key: 'waiting', label: t('column.waiting'), value: format.exactMoney(provider.waiting) },
        { key: 'created', label: t('column.created'), value: format.dateTime(provider.created_at) },
      ]}
      tabs={(provider) => [
        { key: 'runs', label: t('provider.runs'), content: <RunTable of={{ provider_id: id }} /> },
        { key: 'payouts', label: t('provider.payouts'), content: <ProviderPayouts providerId={id} /> },
        { key: 'bank', label: t('provider.bank'), content: <BankDetails providerId={id} /> },
        {
          key: 'accounts',
          label: t('provider.accounts'),
          content: (
            <>
              <p className="zs-soft">{t('provider.accountsNote')}</p>
              {provider.accounts.length === 0 && <EmptyState title={t('provider.noAccounts')} />}
              <ul className="sp-rows zs-list">
                {provider.accounts.map((account) => (
                  <li key={account.id}>
                    <b>{account.name}</b>
                    <span className="zs-soft">{format.dateTime(account.created_at)}</span>
                    <ActionMenu
                      actions={[
                        {
                          key: 'unbind',
                          call: splitProviders.unbind,
                          label: t('provider.unbind'),
                          danger: true,
                          confirm: { title: t('provider.unbindTitle', { name: account.name }), body: t('provider.unbindBody') },
                          doneText: t('provider.unbound'),
                          run: () => unbind.mutateAsync({ params: { id, user_id: account.id } }),
                        },
                      ]}
                    />
                  </li>
                ))}
              </ul>
            </>
          ),
        },
      ]}
    />
  )
}

function BindDialog({ provider, onClose }: Dialog<{ provider: Pick<SplitProvider, 'id' | 'name'> }>) {
  const { t } = useTranslation('split')
  const bind = useChange(splitProviders.bind, { invalidates: invalidatedBySplit, silent: true })
  const { data } = useCall(users.list, { query: { role: 'PROVIDER', page_size: 1_000 } }, { silent: true })
  return (
    <FormDialog<{ user_id: string }>
      title={`${t('provider.bind')} · ${provider.name}`}
      okText={t('provider.bind')}
      initialValues={{}}
      doneText={t('provider.bound')}
      onClose={onClose}
      onSubmit={(body) => bind.mutateAsync({ params: { id: provider.id }, body })}
    >
      <SelectField<string>
        name="user_id"
        label={t('provider.user')}
        missing={t('provider.user')}
        showSearch={{ optionFilterProp: 'label' }}
        options={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </FormDialog>
  )
}
