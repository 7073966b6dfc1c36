import { offerPeriods, type Offer } from '@zhisuan/contract/market/offer'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'

/** What goes with each card of an offer, and what its disk costs, in a line. */
export function OfferTerms({ offer }: { readonly offer: Offer }) {
  const { t } = useTranslation('market')
  return (
    <>
      {[
        offer.edge?.name ?? t('offer.anyNode'),
        t(`mode.${offer.mode}`),
        ...(offer.grace_seconds === null ? [] : [t('offer.grace', { seconds: offer.grace_seconds })]),
        ...offerPeriods.flatMap((period) => {
          const price = offer[`${period}_price`]
          return price === null ? [] : [t(`offer.ahead.${period}`, { price: format.exactMoney(price) })]
        }),
        t('offer.most', { count: offer.most_cards }),
        t('fact.cpus', { count: offer.cpus_per_card }),
        t('fact.ram', { size: format.bytes(offer.memory_bytes_per_card) }),
        t('fact.disk', { size: format.bytes(offer.disk_bytes_per_card) }),
        t('offer.diskPrices', { running: format.rate(offer.disk_price), stopped: format.rate(offer.stopped_disk_price) }),
      ].join(' · ')}
    </>
  )
}
