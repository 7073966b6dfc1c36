import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { partiesMost, splitContracts, stepsMost, type SplitContract } from '@zhisuan/contract/split/contract'
import { splitProviders } from '@zhisuan/contract/split/provider'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { MoneyField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { paths } from '../../paths.ts'
import { invalidatedBySplit, noTerms, termsOf, termsValues, type TermsValues } from './splitTexts.ts'
import './split.css'

interface Values extends TermsValues {
  name: string
  provider_id: string
  from: string
}
const { shape } = splitContracts.create.body

/** Writes a contract, or the next version of one. */
export default function ContractDialog({ contract, onClose }: Dialog<{ contract: SplitContract | null }>) {
  const { t } = useTranslation('split')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const how = { invalidates: invalidatedBySplit, silent: true } as const
  const create = useChange(splitContracts.create, how)
  const amend = useChange(splitContracts.amend, how)
  const { data } = useCall(splitProviders.list, {}, { silent: true, enabled: contract === null })
  const agents = Form.useWatch('agents', form) ?? []
  const before = contract?.draft ?? contract?.current ?? null
  const names = [t('contract.platform'), t('column.provider'), ...agents.map((agent, index) => agent?.name || t('contract.agent', { number: index + 1 }))]
  return (
    <FormDialog<Values, SplitContract>
      form={form}
      width={760}
      title={t(contract === null ? 'contract.create' : 'contract.amend')}
      okText={t(contract === null ? 'contract.create' : 'contract.amend')}
      initialValues={{ name: '', from: before?.from ?? '', ...(before === null ? noTerms : termsValues(before.terms)) }}
      doneText={({ name }) => (contract === null ? t('contract.created', { name }) : t('contract.amended'))}
      onClose={onClose}
      onSubmit={async ({ name, provider_id, from, ...values }) => {
        const provider = contract?.provider.name ?? data?.items.find(({ id }) => id === provider_id)?.name ?? t('column.provider')
        const terms = termsOf({ ...noTerms, ...values, provider: contract === null ? '' : values.provider }, t('contract.platform'), provider)
        if (contract !== null) return amend.mutateAsync({ params: { id: contract.id }, body: { from, terms } })
        const made = await create.mutateAsync({ body: { name, provider_id, from, terms } })
        void navigate(paths.split.management.detail(made.id))
        return made
      }}
    >
      {contract === null && (
        <div className="zs-two">
          <TextField name="name" label={t('contract.name')} schema={shape.name} />
          <SelectField<string>
            name="provider_id"
            label={t('column.provider')}
            missing={t('column.provider')}
            options={(data?.items ?? []).filter(({ status }) => status !== 'disabled').map(({ id, name }) => ({ value: id, label: name }))}
          />
        </div>
      )}
      <TextField name="from" label={t('contract.from')} extra={t('contract.fromNote')} placeholder="2026-11" schema={shape.from} code />
      <Form.List name="agents">
        {(rows, { add, remove }) => (
          <>
            {rows.map(({ key, name }) => (
              <div key={key} className="sp-step">
                <TextField name={[name, 'name']} label={t('contract.agent', { number: name + 1 })} missing={t('contract.agent', { number: name + 1 })} />
                <RemoveRow index={name} onRemove={() => remove(name)} />
              </div>
            ))}
            {/* Who is a party of what was signed stays one. */}
            <Button disabled={rows.length >= partiesMost - 2 || (contract?.current ?? null) !== null} onClick={() => add({ name: '' })}>
              {t('contract.addAgent')}
            </Button>
          </>
        )}
      </Form.List>
      <h3>{t('contract.steps')}</h3>
      <p className="zs-soft">{t('contract.stepsNote')}</p>
      <Form.List name="steps">
        {(rows, { add, remove }) => (
          <>
            {rows.map(({ key, name }) => (
              <div key={key} className="sp-step" role="group" aria-label={`${t('contract.steps')} ${name + 1}`}>
                <MoneyField name={[name, 'above']} label={t('contract.above')} disabled={name === 0} />
                {names.map((party, index) => (
                  <TextField
                    key={`${index}`}
                    name={[name, 'parts', index]}
                    label={t('contract.part', { name: party })}
                    inputMode="decimal"
                    missing={t('contract.part', { name: party })}
                  />
                ))}
                {name > 0 && <RemoveRow index={name} onRemove={() => remove(name)} />}
              </div>
            ))}
            <Button disabled={rows.length >= stepsMost} onClick={() => add({ above: '', parts: [] })}>
              {t('contract.addStep')}
            </Button>
          </>
        )}
      </Form.List>
      <div className="zs-two">
        <MoneyField name="floor" label={t('contract.floor')} extra={t('contract.limitsNote')} />
        <MoneyField name="cap" label={t('contract.cap')} />
      </div>
      <div className="zs-two">
        <SelectField<string[]> name="models" label={t('contract.models')} extra={t('contract.modelsNote')} mode="tags" />
        <NumberField name="confirm_days" label={t('contract.confirmDays')} schema={shape.terms.shape.confirm_days} required />
      </div>
    </FormDialog>
  )
}
