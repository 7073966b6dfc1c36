import Alert from 'antd/es/alert'
import { stoppedDays } from '@zhisuan/contract/market/offer'
import { faultMinutes, rentals, rentalTransitional, workspacePath, type Rental } from '@zhisuan/contract/market/rental'
import { Link, useParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useOne } from '../../api/hooks.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { whilePassing } from '../../kit/whilePassing.ts'
import { paths } from '../../paths.ts'
import { AppTiles } from './AppTiles.tsx'
import { rentalTones } from './marketTexts.ts'
import { StopTable } from './StopTable.tsx'
import { useRentalActions } from './useRentalActions.tsx'
import './market.css'

/** One machine that is rented: how it came to be, what it costs, and the ways into it. */
export default function RentalDetail() {
  const { t } = useTranslation('market')
  const { id = '' } = useParams()
  const query = useOne(rentals.get, { params: { id } }, { refreshMs: (data) => whilePassing(data, ({ status }) => rentalTransitional.includes(status)) })
  const actionsOf = useRentalActions()
  return (
    <DetailPage
      query={query}
      gone={{ to: paths.market.rental.list(), back: t('toRentals') }}
      title={({ name }) => name}
      about={({ id }) => ({ kind: 'market.rental', id })}
      status={({ status, fault }) =>
        fault === null ? (
          <StatusTag tone={rentalTones[status]}>{t(`rental.status.${status}`)}</StatusTag>
        ) : (
          <StatusTag tone="bad">{t(`fault.${fault}`)}</StatusTag>
        )
      }
      actions={(rental) => actionsOf(rental)}
      notice={(rental) => <Notice rental={rental} />}
      facts={(rental) => [
        { key: 'machine', label: t('column.machine'), value: t('ofCards', { count: rental.count, model: rental.offer.card_model }) },
        {
          key: 'size',
          label: t('column.size'),
          value: [
            t('fact.cpus', { count: rental.cpus }),
            t('fact.ram', { size: format.bytes(rental.memory_bytes) }),
            t('fact.disk', { size: format.bytes(rental.disk_bytes) }),
          ].join(' · '),
        },
        { key: 'provider', label: t('column.provider'), value: [rental.provider.name, rental.region?.name].filter(Boolean).join(' · ') },
        { key: 'image', label: t('field.image'), value: <span className="zs-code">{rental.image}</span> },
        { key: 'cards', label: t('column.cards'), value: rental.cards.map(({ index }) => t('cardNumber', { index })).join('、') || format.nothing },
        { key: 'hourly', label: t('column.hourly'), value: format.exactMoney(rental.hourly) },
        ...(rental.prepaid_until === null ? [] : [{ key: 'prepaid', label: t('column.prepaidUntil'), value: format.dateTime(rental.prepaid_until) }]),
        { key: 'spent', label: t('column.spent'), value: t('about', { amount: format.money(rental.spent) }) },
        { key: 'limit', label: t('field.spendLimit'), value: rental.spend_limit === null ? t('unlimited') : format.money(rental.spend_limit) },
        {
          key: 'idle',
          label: t('field.idle'),
          value: rental.idle_minutes === null ? t('never') : t('idleAfter', { minutes: rental.idle_minutes }),
        },
        { key: 'created', label: t('column.created'), value: format.dateTime(rental.created_at) },
        {
          key: 'waited',
          label: t('column.waited'),
          value: rental.running_at === null ? format.nothing : format.duration(Date.parse(rental.running_at) - Date.parse(rental.created_at)),
        },
        ...(rental.status === 'stopped' && rental.release_at !== null
          ? [{ key: 'release', label: t('column.releaseAt'), value: format.dateTime(rental.release_at) }]
          : []),
      ]}
    >
      {(rental) => (
        <div className="zs-card">
          {rental.container_id !== null && rental.status === 'running' && (
            <p className="mk-enter">
              <Link className="zs-text-link" to={paths.container.deployment.containerDetail(rental.container_id)}>
                {t('enter')}
              </Link>
              <span className="zs-soft"> {t('enterNote', { path: workspacePath })}</span>
            </p>
          )}
          {rental.apps && <AppTiles rental={rental} />}
          {rental.ssh_port !== null && (
            <>
              <p>{t('ssh')}</p>
              <CopyCode text={`ssh -p ${rental.ssh_port} ${rental.id}@${location.hostname}`} />
            </>
          )}
          <StopTable stopped={rental.stopped_price} days={stoppedDays} ahead={rental.prepaid_until !== null} />
        </div>
      )}
    </DetailPage>
  )
}

function Notice({ rental }: { readonly rental: Rental }) {
  const { t } = useTranslation('market')
  const { status, step, error, attempts, fault, stop_reason, interrupt_at, waits_until } = rental
  return (
    <>
      {fault !== null && <Alert className="zs-above" type="error" showIcon title={t(`faultNote.${fault}`, { minutes: faultMinutes })} />}
      {status === 'running' && interrupt_at !== null && (
        <Alert className="zs-above" type="warning" showIcon title={t('interrupting', { at: format.dateTime(interrupt_at) })} />
      )}
      {status === 'placing' && waits_until !== null && (
        <Alert className="zs-above" type="info" showIcon title={t('waitsForCards', { at: format.dateTime(waits_until) })} />
      )}
      {rentalTransitional.includes(status) && step !== null && (
        <Alert className="zs-above" type="info" showIcon title={t(`step.${step as 'pull'}`, { defaultValue: t(`rental.status.${status}`) })} />
      )}
      {status === 'stopped' && stop_reason !== null && <Alert className="zs-above" type="info" showIcon title={t(`stopReason.${stop_reason}`)} />}
      {error !== null && <Alert className="zs-above" type="error" showIcon title={error} />}
      {attempts.length > 0 && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('attempts', { count: attempts.length })}
          description={
            <ul className="mk-steps">
              {attempts.map(({ at, provider, reason }) => (
                <li key={at}>{t('attempt', { provider, reason })}</li>
              ))}
            </ul>
          }
        />
      )}
    </>
  )
}
