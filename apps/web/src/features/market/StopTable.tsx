import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import './market.css'

/** What becomes of a machine once it is stopped, and what that costs: beside everything that can be rented. */
export function StopTable({ stopped, days }: { readonly stopped: string; readonly days: number }) {
  const { t } = useTranslation('market')
  const rows = [
    ['cards', t('stop.cardsValue')],
    ['disk', t('stop.diskValue', { price: format.rate(stopped) })],
    ['kept', t('stop.keptValue')],
    ['until', t('stop.untilValue', { days })],
    ['again', t('stop.againValue')],
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
