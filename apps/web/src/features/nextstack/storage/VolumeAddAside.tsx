import Progress from 'antd/es/progress'
import { quotas, type QuotaLine } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { amountText, levelOf, shareOf } from '../../../kit/quotaLines.ts'
import './storage.css'

type Counted = 'volumes' | 'volume_bytes'

const colours = { fine: 'var(--brand)', near: 'var(--warning)', full: 'var(--warning)', over: 'var(--bad)' } as const

/** What the organisation has, and what it will have with this one. */
export function VolumeAddAside({ sizeBytes }: { readonly sizeBytes: number }) {
  const { t } = useTranslation('storage')
  const { data } = useCall(quotas.mine, {}, { silent: true })
  const lineOf = (resource: Counted): QuotaLine | undefined => data?.lines.find((line) => line.resource === resource && line.limit !== null)
  const [count, bytes] = [lineOf('volumes'), lineOf('volume_bytes')]
  return (
    <div className="zs-card">
      <h2>{t('add.quota')}</h2>
      {data !== undefined && count === undefined && bytes === undefined && <p className="zs-soft">{t('add.quotaNone')}</p>}
      {count !== undefined && <Line resource="volumes" line={count} more={1} />}
      {bytes !== undefined && <Line resource="volume_bytes" line={bytes} more={sizeBytes} />}
    </div>
  )
}

function Line({ resource, line, more }: { readonly resource: Counted; readonly line: QuotaLine; readonly more: number }) {
  const { t } = useTranslation('storage')
  const [used, limit] = [line.used, line.limit ?? 0]
  const after = { used: used + more, limit }
  const level = levelOf(after)
  const words = t('add.quotaThen', { used: amountText(resource, used), after: amountText(resource, after.used), limit: amountText(resource, limit) })
  return (
    <div className="st-quota">
      <div className="st-quota-head">
        <span>{quotaTexts[resource]}</span>
        <span className="zs-number">{words}</span>
      </div>
      <Progress
        percent={(shareOf(after) ?? 0) * 100}
        success={{ percent: (shareOf(line) ?? 0) * 100, strokeColor: 'var(--line-strong)' }}
        showInfo={false}
        size="small"
        strokeColor={colours[level]}
        aria-label={`${quotaTexts[resource]} ${words}`}
      />
      <p className={level === 'over' ? 'zs-bad' : 'zs-soft'}>
        {level === 'over'
          ? t(`add.quotaOver.${resource}`, { over: amountText(resource, after.used - limit) })
          : t(`add.quotaLeft.${resource}`, { left: amountText(resource, limit - used) })}
      </p>
    </div>
  )
}
