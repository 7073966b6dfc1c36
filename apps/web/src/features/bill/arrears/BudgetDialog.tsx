import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { budgetGiven, budgets, type Budget } from '@zhisuan/contract/bill/budget'
import { floored } from '@zhisuan/contract/bill/money'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { MoneyField, RadioField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { OrganisationField } from '../../../kit/OrganisationSelect.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'

const limits = ['all', 'project', 'product'] as const
interface Values {
  bp_id?: string
  name: string
  amount: string
  limit: (typeof limits)[number]
  project_id?: string
  product_id?: string
  thresholds: (number | string)[]
  forecast_thresholds: (number | string)[]
}

const limitOf = (budget: Budget | null): Values['limit'] => (budget?.project != null ? 'project' : budget?.product != null ? 'product' : 'all')
const usual = [50, 80, 90, 100, 120]

/** Sets a budget, or with one changes it; whoever runs the platform says whose. */
export function BudgetDialog({ budget, onClose }: Dialog<{ budget: Budget | null }>) {
  const { t } = useTranslation('arrears')
  const platform = useIsPlatform()
  const asks = platform && budget === null
  const [form] = Form.useForm<Values>()
  const limit = Form.useWatch('limit', form) ?? limitOf(budget)
  const chosen = Form.useWatch('bp_id', form)
  const bpId = budget?.organisation.id ?? chosen
  const scopes = useCall(budgets.scopes, { query: { bp_id: bpId } }, { silent: true, enabled: !asks || bpId !== undefined })
  const create = useChange(budgets.create, { invalidates: [budgets.list], silent: true })
  const update = useChange(budgets.update, { invalidates: [budgets.list], silent: true })
  const submit = ({ bp_id, limit: only, name, amount, project_id, product_id, thresholds, forecast_thresholds }: Values): Promise<unknown> => {
    const body = {
      name,
      amount,
      project_id: only === 'project' ? (project_id ?? null) : null,
      product_id: only === 'product' ? (product_id ?? null) : null,
      thresholds: thresholds.map(Number),
      forecast_thresholds: forecast_thresholds.map(Number),
    }
    return budget === null ? create.mutateAsync({ body: { ...body, bp_id: bp_id ?? null } }) : update.mutateAsync({ params: { id: budget.id }, body })
  }
  const choice = (key: 'project_id' | 'product_id', label: string, options: readonly { id: string; name: string }[] = []) => (
    <Form.Item name={key} label={label} required rules={[{ required: true }]}>
      <Select showSearch={{ optionFilterProp: 'label' }} loading={scopes.isLoading} options={options.map(({ id, name }) => ({ value: id, label: name }))} />
    </Form.Item>
  )
  const percents = (key: 'thresholds' | 'forecast_thresholds') => (
    <Form.Item
      name={key}
      label={t(`budget.${key}`)}
      extra={t(`budget.${key}Note`)}
      required={key === 'thresholds'}
      rules={[refusing((value: string[]) => wrongWith(budgetGiven.shape[key], value.map(Number)))]}
    >
      <Select mode="tags" tokenSeparators={[',', '，', ' ']} options={usual.map((percent) => ({ value: String(percent), label: String(percent) }))} />
    </Form.Item>
  )
  return (
    <FormDialog<Values>
      form={form}
      title={budget === null ? t('budget.createTitle') : t('budget.editTitle', { name: budget.name })}
      okText={t('budget.save')}
      initialValues={{
        name: budget?.name ?? '',
        amount: budget === null ? '' : floored(budget.amount),
        limit: limitOf(budget),
        ...(budget?.project != null && { project_id: budget.project.id }),
        ...(budget?.product != null && { product_id: budget.product.id }),
        thresholds: (budget?.thresholds ?? [80, 100]).map(String),
        forecast_thresholds: (budget?.forecast_thresholds ?? []).map(String),
      }}
      doneText={t('budget.saved')}
      onClose={onClose}
      onSubmit={submit}
    >
      {asks && <OrganisationField name="bp_id" label={t('budget.organisation')} missing={t('exception.choose')} />}
      <TextField name="name" label={t('budget.name')} schema={budgetGiven.shape.name} />
      <MoneyField name="amount" label={t('budget.amount')} schema={budgetGiven.shape.amount} />
      <RadioField name="limit" label={t('budget.scope')} values={limits} labelOf={(value) => t(`budget.limit.${value}`)} />
      {limit === 'project' && choice('project_id', t('budget.projectField'), scopes.data?.projects)}
      {limit === 'product' && choice('product_id', t('budget.productField'), scopes.data?.products)}
      {percents('thresholds')}
      {percents('forecast_thresholds')}
    </FormDialog>
  )
}
