import { bankCan, splitBankDetails, type BankDetail } from '@zhisuan/contract/split/bank'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useMayCall } from '../../session/user.ts'
import { bankTones, invalidatedByPayout } from './splitTexts.ts'

const how = { invalidates: invalidatedByPayout, silent: true } as const

/** Where the money of a provider goes and went: nobody is shown it in clear. */
export function BankDetails({ providerId }: { readonly providerId: string }) {
  const { t } = useTranslation('split')
  const withdraw = useChange(splitBankDetails.withdraw, how)
  const approves = useMayCall(splitBankDetails.approve)
  return (
    <>
      <p className="zs-soft">{t('bank.note')}</p>
      <ResourceTable
        call={splitBankDetails.list}
        name="bank"
        input={{ params: { id: providerId } }}
        columns={[
          col.name<BankDetail>('account', t('bank.account'), ({ bank, account }) => `${bank} ${account}`, { width: 200, note: ({ holder }) => holder }),
          col.status<BankDetail>('status', t('column.status'), ({ status }) => ({ tone: bankTones[status], text: t(`bank.status.${status}`) }), { width: 110 }),
          // Of one that was approved it has counted since.
          col.date<BankDetail>('counts_from', t('bank.countsFrom'), ({ counts_from, approved_by }) => (approved_by === null ? counts_from : null)),
          col.text<BankDetail>('set_by', t('bank.setBy'), ({ set_by }) => set_by, { width: 110 }),
          col.text<BankDetail>('approved_by', t('bank.approvedBy'), ({ approved_by }) => approved_by, { width: 110 }),
          col.date<BankDetail>('created_at', t('column.created'), ({ created_at }) => created_at),
        ]}
        rowActions={(detail) => {
          const whyNot = (action: keyof typeof bankCan) => allowed(bankCan, action, detail.status, t(`bank.status.${detail.status}`))
          return [
            ...(approves
              ? [
                  {
                    key: 'approve',
                    call: splitBankDetails.approve,
                    label: t('bank.approve'),
                    disabledReason: whyNot('approve'),
                    dialog: (close: () => void) => <ApproveDialog detail={detail} onClose={close} />,
                  },
                ]
              : []),
            {
              key: 'withdraw',
              call: splitBankDetails.withdraw,
              label: t('bank.withdraw'),
              danger: true,
              disabledReason: whyNot('withdraw'),
              confirm: { title: t('bank.withdrawTitle', { account: `${detail.bank} ${detail.account}` }), body: t('bank.withdrawBody') },
              doneText: t('bank.withdrawn'),
              run: () => withdraw.mutateAsync({ params: { id: detail.id } }),
            },
          ]
        }}
        create={{
          call: splitBankDetails.create,
          label: t('bank.create'),
          plain: true,
          dialog: (close) => <BankDialog providerId={providerId} onClose={close} />,
        }}
        empty={{ title: t('bank.empty'), note: t('bank.emptyNote') }}
      />
    </>
  )
}

function BankDialog({ providerId, onClose }: Dialog<{ providerId: string }>) {
  const { t } = useTranslation('split')
  const create = useChange(splitBankDetails.create, how)
  const { asking, passwordField } = useAskedPassword()
  const { shape } = splitBankDetails.create.body
  return (
    <FormDialog<{ holder: string; bank: string; account: string; password?: string }>
      title={t('bank.create')}
      okText={t('bank.submit')}
      initialValues={{ holder: '', bank: '', account: '' }}
      doneText={t('bank.created')}
      onClose={onClose}
      onSubmit={(body) => asking(() => create.mutateAsync({ params: { id: providerId }, body }))}
    >
      <p className="zs-soft">{t('bank.createNote')}</p>
      <TextField name="holder" label={t('bank.holder')} schema={shape.holder} autoComplete="off" />
      <TextField name="bank" label={t('bank.bank')} schema={shape.bank} autoComplete="off" />
      <TextField name="account" label={t('bank.number')} schema={shape.account} autoComplete="off" code />
      {passwordField}
    </FormDialog>
  )
}

function ApproveDialog({ detail, onClose }: Dialog<{ detail: BankDetail }>) {
  const { t } = useTranslation('split')
  const approve = useChange(splitBankDetails.approve, how)
  const { asking, passwordField } = useAskedPassword()
  return (
    <FormDialog<{ password?: string }>
      title={t('bank.approve')}
      okText={t('bank.approve')}
      initialValues={{}}
      doneText={t('bank.approved')}
      onClose={onClose}
      onSubmit={(body) => asking(() => approve.mutateAsync({ params: { id: detail.id }, body }))}
    >
      <p>{t('bank.approveBody', { account: `${detail.bank} ${detail.account}`, name: detail.set_by })}</p>
      {passwordField}
    </FormDialog>
  )
}
