import Alert from 'antd/es/alert'
import Checkbox from 'antd/es/checkbox'
import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import { priceLists, skus, usualPeriods } from '@zhisuan/contract/bill/catalogue'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { yuanSign } from '../../../kit/format.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import './catalogue.css'
import { meterText, unitOf } from './catalogueText.ts'
import { starterPrices, type StarterRow } from './starterPrices.ts'
import { invalidatedByCatalogue } from './invalidated.ts'

type Edited = Readonly<Record<string, { readonly use: boolean } & Readonly<Record<(typeof usualPeriods)[number], string>>>>

const priceRule = priceLists.import.body.shape.rows.element.shape.hour
const isWrong = (text: string): boolean => text.trim() !== '' && !priceRule.safeParse(text).success

/** A list of prices to look at, change and apply; until then nothing is priced. */
export function StarterDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('catalogue')
  const [edited, setEdited] = useState<Edited>(() =>
    Object.fromEntries(starterPrices.map(({ meter, hour, month, year }) => [meter, { use: true, hour, month, year }])),
  )
  const { data } = useCall(skus.list, { query: {} })
  const bring = useChange(priceLists.import, { invalidates: invalidatedByCatalogue, silent: true })
  const taken = new Set(data?.items.filter(({ variant }) => variant === '').map(({ meter }) => meter))
  const offered = starterPrices.filter(({ meter }) => !taken.has(meter))
  const valuesOf = ({ meter, hour, month, year }: StarterRow) => edited[meter] ?? { use: true, hour, month, year }
  const chosen = offered.filter((row) => valuesOf(row).use)
  const missing = (row: StarterRow): boolean => usualPeriods.every((period) => valuesOf(row)[period].trim() === '')
  const wrong = chosen.some((row) => missing(row) || usualPeriods.some((period) => isWrong(valuesOf(row)[period])))
  const count = chosen.reduce((sum, row) => sum + usualPeriods.filter((period) => valuesOf(row)[period].trim() !== '').length, 0)

  const price = (text: string): string | null => (text.trim() === '' ? null : text)
  const rowOf = (row: StarterRow) => {
    const { hour, month, year } = valuesOf(row)
    return {
      category: t(`starter.names.${row.category}`),
      product: t(`starter.names.${row.product}`),
      sku: t(`starter.names.${row.sku}`),
      meter: row.meter,
      hour: price(hour),
      month: price(month),
      year: price(year),
    }
  }

  return (
    <FormDialog
      title={t('starter.title')}
      okText={t('starter.apply', { count })}
      okDisabled={data === undefined || chosen.length === 0 || wrong}
      initialValues={{}}
      onSubmit={() => bring.mutateAsync({ body: { rows: chosen.map(rowOf) } })}
      doneText={(made) => t('starter.done', made)}
      refusal={(reason) => ({ title: t('starter.failed', { reason }) })}
      onClose={onClose}
      width={920}
    >
      {data === undefined ? (
        <Skeleton active paragraph={{ rows: 6 }} />
      ) : offered.length === 0 ? (
        <EmptyState title={t('starter.nothing')} />
      ) : (
        <>
          <Alert type="info" showIcon className="zs-above" title={t('starter.note')} />
          <div className="bc-starter-scroll">
            <table className="bc-starter">
              <thead>
                <tr>
                  <th scope="col">{t('starter.include')}</th>
                  <th scope="col">{t('starter.meter')}</th>
                  {usualPeriods.map((period) => (
                    <th key={period} scope="col" className="bc-right">
                      {t(`starter.${period}`)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {offered.map((row) => {
                  const values = valuesOf(row)
                  const name = meterText(t, row.meter)
                  const set = (next: Partial<typeof values>): void => setEdited({ ...edited, [row.meter]: { ...values, ...next } })
                  return (
                    <tr key={row.meter}>
                      <td>
                        <Checkbox checked={values.use} aria-label={t('starter.use', { name })} onChange={({ target }) => set({ use: target.checked })} />
                      </td>
                      <th scope="row">
                        {name}（{unitOf(t, row.meter)}）
                        <div className="zs-soft bc-small">
                          {t(`starter.names.${row.category}`)} / {t(`starter.names.${row.product}`)}
                        </div>
                        {values.use && missing(row) && (
                          <div className="bc-wrong" role="alert">
                            {t('starter.missing')}
                          </div>
                        )}
                        {values.use && usualPeriods.some((period) => isWrong(values[period])) && (
                          <div className="bc-wrong" role="alert">
                            {t('starter.wrong')}
                          </div>
                        )}
                      </th>
                      {usualPeriods.map((period) => (
                        <td key={period} data-label={t(`starter.${period}`)}>
                          <Input
                            className="bc-right zs-number"
                            inputMode="decimal"
                            prefix={yuanSign}
                            disabled={!values.use}
                            value={values[period]}
                            {...(isWrong(values[period]) && { status: 'error' as const })}
                            aria-label={t('starter.priceOf', { name, period: t(`period.${period}`) })}
                            onChange={({ target }) => set({ [period]: target.value })}
                          />
                        </td>
                      ))}
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </div>
          <p className="zs-soft">{t('starter.free')}</p>
        </>
      )}
    </FormDialog>
  )
}
