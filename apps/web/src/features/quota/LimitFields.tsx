import Select from 'antd/es/select'
import { quotaResources, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { NumberInput } from '../../kit/NumberInput.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import { amountText, isBytes, type LimitValue, type LimitValues } from '../../kit/quotaLines.ts'
import './quota.css'

/** One line for each resource: how it is limited, and how much there is. */
export function LimitFields({
  values,
  onChange,
  used,
  defaults,
  wrong,
}: {
  readonly values: LimitValues
  readonly onChange: (values: LimitValues) => void
  /** What is used now; absent where nobody in particular is meant. */
  readonly used?: Partial<Record<QuotaResource, number>>
  /** What holds for who has nothing of their own; absent for the defaults themselves, which have no third way. */
  readonly defaults?: Partial<Record<QuotaResource, number | null>>
  /** What is wrong with each, where something is. */
  readonly wrong: Partial<Record<QuotaResource, string>>
}) {
  const { t } = useTranslation('nextstackCompute')
  return (
    <div>
      {quotaResources.map((resource) => {
        const value: LimitValue = values[resource] ?? { mode: defaults === undefined ? 'unlimited' : 'default', most: null }
        const set = (next: Partial<LimitValue>): void => onChange({ ...values, [resource]: { ...value, ...next } })
        const label = t('quota.drawer.limitLabel', { resource: quotaTexts[resource] })
        const byDefault = defaults?.[resource] ?? null
        const number = value.mode === 'own' ? value.most : null
        return (
          <div key={resource} className="qt-limit">
            <span>
              {quotaTexts[resource]}
              {used !== undefined && (
                <span className="zs-soft zs-number">{t('quota.drawer.usedShort', { used: amountText(resource, used[resource] ?? 0) })}</span>
              )}
            </span>
            <Select<LimitValue['mode']>
              aria-label={t('quota.drawer.modeLabel', { resource: quotaTexts[resource] })}
              value={value.mode}
              options={[
                ...(defaults === undefined
                  ? []
                  : [
                      {
                        value: 'default' as const,
                        label: t('quota.drawer.mode.default', { limit: byDefault === null ? t('quota.table.unlimited') : amountText(resource, byDefault) }),
                      },
                    ]),
                { value: 'unlimited' as const, label: t('quota.drawer.mode.unlimited') },
                { value: 'own' as const, label: t('quota.drawer.mode.own') },
              ]}
              onChange={(mode) => set({ mode, most: mode === 'own' ? (value.most ?? byDefault ?? used?.[resource] ?? 0) : value.most })}
            />
            {isBytes(resource) ? (
              // Its unit is chosen by the first size that it has.
              <SizeInput key={value.mode} label={label} value={number} disabled={value.mode !== 'own'} onChange={(most) => set({ most })} />
            ) : (
              <NumberInput aria-label={label} value={number} min={0} disabled={value.mode !== 'own'} onChange={(most) => set({ most })} />
            )}
            {wrong[resource] !== undefined && (
              <span className="zs-bad" role="alert">
                {wrong[resource]}
              </span>
            )}
          </div>
        )
      })}
    </div>
  )
}
