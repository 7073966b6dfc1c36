import { splitContracts, type SplitContract, type SplitTrial } from '@zhisuan/contract/split/contract'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import './split.css'

/** What the terms that are being written would have come to in a past month, beside those that counted. */
export default function TryDialog({ contract, onClose }: Dialog<{ contract: SplitContract }>) {
  const { t } = useTranslation('split')
  const trial = useChange(splitContracts.try, { silent: true })
  const [answer, setAnswer] = useState<ResponseOf<typeof splitContracts.try> | null>(null)
  const { draft } = contract
  if (draft === null) return null
  return (
    <FormDialog<{ period: string }>
      keepOpen
      title={t('contract.tryTitle')}
      okText={t('contract.tryDo')}
      initialValues={{ period: '' }}
      onClose={onClose}
      onSubmit={async ({ period }) => setAnswer(await trial.mutateAsync({ body: { provider_id: contract.provider.id, period, terms: draft.terms } }))}
    >
      <TextField name="period" label={t('contract.tryPeriod')} placeholder="2026-10" schema={splitContracts.try.body.shape.period} code />
      {answer !== null && (
        <div className="zs-two" role="status">
          <Trial title={t('contract.tried')} trial={answer.tried} />
          {answer.present === null ? <p className="zs-soft">{t('contract.noPresent')}</p> : <Trial title={t('contract.present')} trial={answer.present} />}
        </div>
      )}
    </FormDialog>
  )
}

function Trial({ title, trial }: { readonly title: string; readonly trial: SplitTrial }) {
  const { t } = useTranslation('split')
  return (
    <section>
      <h3>{title}</h3>
      <dl className="sp-tiles">
        <div>
          <dt>{t('column.base')}</dt>
          <dd>{format.exactMoney(trial.base)}</dd>
        </div>
        {trial.shares.map(({ party, amount }) => (
          <div key={party.name}>
            <dt>{party.name}</dt>
            <dd>{format.exactMoney(amount)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
