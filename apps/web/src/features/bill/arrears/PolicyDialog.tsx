import { arrearsPolicies, arrearsPolicyGiven, standings, type ArrearsPolicy } from '@zhisuan/contract/bill/arrears'
import { floored } from '@zhisuan/contract/bill/money'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { MoneyField, SwitchField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { OrganisationField } from '../../../kit/OrganisationSelect.tsx'

type Values = BodyInput<typeof arrearsPolicies.set> & { bp_id?: string }

const switches = ['suspends', 'stop_vms', 'stop_containers', 'refuse_new', 'resume'] as const
const numbers = ['grace_hours', 'warning_hours'] as const
const touched = [arrearsPolicies.get, arrearsPolicies.exceptions, standings.list, standings.get]

/**
 * Changes the platform's policy or an exception, or adds one.
 * @param policy what it begins with
 */
export function PolicyDialog({ policy, adds, onClose }: Dialog<{ policy: ArrearsPolicy; adds: boolean }>) {
  const { t } = useTranslation('arrears')
  const set = useChange(arrearsPolicies.set, { invalidates: touched, silent: true })
  const setException = useChange(arrearsPolicies.setException, { invalidates: touched, silent: true })
  const { organisation } = policy
  const initial = Object.fromEntries([...numbers, ...switches].map((key) => [key, policy[key]]))
  return (
    <FormDialog<Values>
      title={adds ? t('exception.addTitle') : organisation === null ? t('policy.editTitle') : t('policy.editOf', { name: organisation.name })}
      okText={t('save')}
      initialValues={{ ...initial, low_balance: floored(policy.low_balance), least_balance: floored(policy.least_balance) }}
      doneText={t(adds ? 'exception.added' : 'policy.saved')}
      onClose={onClose}
      onSubmit={({ bp_id, ...body }) => {
        const id = adds ? bp_id : organisation?.id
        return id === undefined ? set.mutateAsync({ body }) : setException.mutateAsync({ params: { id }, body })
      }}
    >
      {adds && <OrganisationField name="bp_id" label={t('exception.organisation')} missing={t('exception.choose')} />}
      <MoneyField name="low_balance" label={t('policy.low_balance')} extra={t('policy.low_balanceNote')} schema={arrearsPolicyGiven.shape.low_balance} />
      <MoneyField
        name="least_balance"
        label={t('policy.least_balance')}
        extra={t('policy.least_balanceNote')}
        schema={arrearsPolicyGiven.shape.least_balance}
      />
      {numbers.map((key) => (
        <NumberField
          key={key}
          name={key}
          label={t(`policy.${key}`)}
          extra={t(`policy.${key}Note`)}
          schema={arrearsPolicyGiven.shape[key]}
          style={{ width: '100%' }}
        />
      ))}
      {switches.map((key) => (
        <SwitchField key={key} name={key} label={t(`policy.${key}`)} layout="horizontal" checkedChildren={t('policy.yes')} unCheckedChildren={t('policy.no')} />
      ))}
    </FormDialog>
  )
}
