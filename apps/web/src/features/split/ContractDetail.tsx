import { contractCan, splitContracts, type SplitContract } from '@zhisuan/contract/split/contract'
import { lazy } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useChange, useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { RunTable } from './RunTable.tsx'
import { contractTones, invalidatedBySplit } from './splitTexts.ts'
import { TermsText } from './TermsText.tsx'
import './split.css'

const ContractDialog = lazy(() => import('./ContractDialog.tsx'))
const TryDialog = lazy(() => import('./TryDialog.tsx'))
const how = { invalidates: invalidatedBySplit, silent: true } as const

/** One contract: what counts, what is being written, what was split by it. */
export default function ContractDetail() {
  const { t } = useTranslation('split')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const query = useOne(splitContracts.get, { params: { id } })
  const sign = useChange(splitContracts.sign, how)
  const remove = useChange(splitContracts.delete, how)
  const params = { id }
  const actionsOf = (contract: SplitContract): readonly Action[] => {
    const whyNot = (action: keyof typeof contractCan) => allowed(contractCan, action, contract.status, t(`contractStatus.${contract.status}`))
    const { draft } = contract
    return [
      ...(draft === null
        ? []
        : [
            {
              key: 'sign',
              call: splitContracts.sign,
              label: t('contract.sign'),
              disabledReason: whyNot('sign'),
              confirm: { title: t('contract.signTitle', { number: draft.number }), body: t('contract.signBody', { from: draft.from }) },
              doneText: t('contract.signed'),
              run: () => sign.mutateAsync({ params }),
            },
            {
              key: 'try',
              call: splitContracts.try,
              label: t('contract.try'),
              dialog: (close: () => void) => <TryDialog contract={contract} onClose={close} />,
            },
          ]),
      {
        key: 'amend',
        call: splitContracts.amend,
        label: t('contract.amend'),
        disabledReason: whyNot('amend'),
        dialog: (close) => <ContractDialog contract={contract} onClose={close} />,
      },
      {
        key: 'end',
        call: splitContracts.end,
        label: t('contract.end'),
        danger: true,
        disabledReason: whyNot('end'),
        dialog: (close) => <EndDialog contract={contract} onClose={close} />,
      },
      {
        key: 'delete',
        call: splitContracts.delete,
        label: t('contract.delete'),
        danger: true,
        disabledReason: whyNot('delete'),
        confirm: { title: t('contract.deleteTitle', { name: contract.name }), body: t('contract.deleteBody') },
        doneText: t('contract.deleted'),
        run: async () => {
          await remove.mutateAsync({ params })
          void navigate(paths.split.management.list())
        },
      },
    ]
  }
  return (
    <DetailPage
      query={query}
      gone={{ title: t('contract.gone'), back: t('contract.backToList'), to: paths.split.management.list() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={contractTones[status]}>{t(`contractStatus.${status}`)}</StatusTag>}
      actions={actionsOf}
      facts={({ provider, created_by, created_at }) => [
        { key: 'provider', label: t('column.provider'), value: <Link to={paths.split.provider.detail(provider.id)}>{provider.name}</Link> },
        { key: 'creator', label: t('column.creator'), value: created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(created_at) },
      ]}
      tabs={(contract) => [
        {
          key: 'versions',
          label: t('contract.versions'),
          content: (
            <ul className="zs-list sp-rows">
              {contract.versions.map((version) => (
                <li key={version.number}>
                  <b>{t('versionOf', { number: version.number })}</b>
                  <span className="zs-number">{version.from}</span>
                  <TermsText terms={version.terms} />
                  <span>
                    {t('floor')} {version.terms.floor === null ? t('none') : format.money(version.terms.floor)}，{t('cap')}{' '}
                    {version.terms.cap === null ? t('none') : format.money(version.terms.cap)}
                  </span>
                  <span className="zs-soft">
                    {version.signed_at === null ? t('contract.unsigned') : `${version.signed_by ?? ''} ${format.dateTime(version.signed_at)}`}
                  </span>
                </li>
              ))}
            </ul>
          ),
        },
        { key: 'runs', label: t('provider.runs'), content: <RunTable of={{ contract_id: id }} /> },
      ]}
    />
  )
}

function EndDialog({ contract, onClose }: Dialog<{ contract: SplitContract }>) {
  const { t } = useTranslation('split')
  const end = useChange(splitContracts.end, how)
  return (
    <FormDialog<{ after: string }, SplitContract>
      title={t('contract.endTitle', { name: contract.name })}
      okText={t('contract.end')}
      danger
      initialValues={{ after: '' }}
      doneText={t('contract.ended')}
      onClose={onClose}
      onSubmit={(body) => end.mutateAsync({ params: { id: contract.id }, body })}
    >
      <TextField name="after" label={t('contract.after')} placeholder="2026-11" schema={splitContracts.end.body.shape.after} code />
    </FormDialog>
  )
}
