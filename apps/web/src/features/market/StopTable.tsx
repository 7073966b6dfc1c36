import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import './market.css'

/** What becomes of a machine once it is stopped, and what that costs: beside everything that can be rented. */
export function StopTable({
  stopped,
  days,
  grace = null,
  ahead = false,
}: {
  readonly stopped: string
  readonly days: number
  /** Of what is interruptible. */
  readonly grace?: number | null
  /** Paid in advance. */
  readonly ahead?: boolean
}) {
  const { t } = useTranslation('market')
  const rows = [
    ['cards', t(ahead ? 'stop.cardsAhead' : 'stop.cardsValue')],
    ['disk', ahead ? t('stop.diskAhead', { price: format.rate(stopped) }) : t('stop.diskValue', { price: format.rate(stopped) })],
    ['kept', t('stop.keptValue')],
    ['until', t(ahead ? 'stop.untilAhead' : 'stop.untilValue', { days })],
    ['again', t(ahead ? 'stop.againAhead' : 'stop.againValue')],
    ...(grace === null ? [] : ([['interrupted', t('stop.interruptedValue', { seconds: grace })]] as const)),
  ] as const
  return (
    <table className="mk-stop">
      <caption>{t('stop.title')}</caption>
      <tbody>
        {rows.map(([key, value]) => (
          <tr key={key}>
            <th scope="row">{t(`stop.${key}`)}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
