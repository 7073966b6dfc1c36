import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import Skeleton from 'antd/es/skeleton'
import { quotas, type QuotaLine } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import { lazy, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { useIsPlatform } from '../../session/user.ts'
import './quota.css'
import { amountText, levelOf, shareOf, worthLook } from '../../kit/quotaLines.ts'
import { useDialog } from '../../kit/dialogs.tsx'

// With what checks it: the page is seen without.
const QuotaDrawer = lazy(() => import('../quota/QuotaDrawer.tsx').then(({ QuotaDrawer: drawer }) => ({ default: drawer })))

const refreshMs = 30_000
/** What a card shows before somebody asks for more. */
const shownFirst = 6

const colours = { fine: 'var(--brand)', near: 'var(--warning)', full: 'var(--bad)', over: 'var(--bad)' } as const

/**
 * What the organisation has and may have; for who runs the platform what all have together, and the
 * way to change what they may. Needs the messages of `nextstackCompute`.
 */
export function QuotaCard() {
  const { t } = useTranslation('nextstackCompute')
  const platform = useIsPlatform()
  const { data, error, refetch } = useCall(quotas.mine, {}, { silent: true, refreshMs })
  const [whole, setWhole] = useState(false)
  const openDialog = useDialog()
  const lines = data === undefined ? [] : worthLook(data.lines)
  const first = whole ? lines : lines.slice(0, shownFirst)
  return (
    <section className="zs-card" aria-labelledby="quota-title">
      <div className="ov-quota-head">
        <h2 className="zs-title" id="quota-title">
          {t('quota.title')}
        </h2>
        {platform && <Button onClick={() => openDialog((close) => <QuotaDrawer onClose={close} />)}>{t('quota.manage')}</Button>}
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 4 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : lines.length === 0 ? (
        <p className="zs-soft">{t('quota.none')}</p>
      ) : (
        <Lines lines={first} />
      )}
      {lines.length > shownFirst && (
        <Button type="link" className="ov-quota-more" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? t('quota.fewer') : t('quota.all')}
        </Button>
      )}
    </section>
  )
}

/** Bars for who sees them, the same as a table for who hears it. */
function Lines({ lines }: { readonly lines: readonly QuotaLine[] }) {
  const { t } = useTranslation('nextstackCompute')
  return (
    <>
      <div aria-hidden="true">
        {lines.map((line) => (
          <Bar key={line.resource} line={line} />
        ))}
      </div>
      <table className="zs-hidden">
        <caption>{t('quota.title')}</caption>
        <thead>
          <tr>
            {(['resource', 'used', 'limit', 'share'] as const).map((key) => (
              <th key={key} scope="col">
                {t(`quota.table.${key}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => {
            const level = levelOf(line)
            return (
              <tr key={line.resource}>
                <th scope="row">{quotaTexts[line.resource]}</th>
                <td>{amountText(line.resource, line.used)}</td>
                <td>{line.limit === null ? t('quota.table.unlimited') : amountText(line.resource, line.limit)}</td>
                <td>
                  {format.percent(shareOf(line))} {level !== 'fine' && t(`quota.level.${level}`)}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}

function Bar({ line }: { readonly line: QuotaLine }) {
  const { t } = useTranslation('nextstackCompute')
  const { resource, used, limit } = line
  const level = levelOf(line)
  const share = shareOf(line)
  const words =
    limit === null
      ? t('quota.usedUnlimited', { used: amountText(resource, used) })
      : t('quota.used', { used: amountText(resource, used), limit: amountText(resource, limit) })
  return (
    <div className="ov-quota">
      <div className="zs-between">
        <span>{quotaTexts[resource]}</span>
        <span className="zs-number">
          {level !== 'fine' && <span className={`ov-quota-note ov-quota-${level}`}>{t(`quota.level.${level}`)}</span>}
          {words}
        </span>
      </div>
      {share !== null && <Progress percent={share * 100} showInfo={false} size="small" strokeColor={colours[level]} />}
    </div>
  )
}
