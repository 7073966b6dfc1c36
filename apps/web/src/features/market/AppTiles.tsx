import Button from 'antd/es/button'
import Space from 'antd/es/space'
import { containers } from '@zhisuan/contract/cis/container'
import { rentalApps, rentals, type Rental, type RentalApp } from '@zhisuan/contract/market/rental'
import type { BodyOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { NumberInput } from '../../kit/NumberInput.tsx'
import { useMayCall } from '../../session/user.ts'
import './market.css'

const apps = Object.keys(rentalApps) as RentalApp[]

/** Programs in a machine that open in a window of their own: what is not there yet is started first. */
export function AppTiles({ rental }: { readonly rental: Rental }) {
  const { t } = useTranslation('market')
  const [port, setPort] = useState<number | null>(null)
  const open = useChange(rentals.open, { invalidates: [] })
  const [mayOpen, mayEnter] = [useMayCall(rentals.open), useMayCall(containers.terminal)]
  const go = async (body: BodyOf<typeof rentals.open>): Promise<void> => {
    const { url } = await open.mutateAsync({ params: { id: rental.id }, body })
    window.open(url, '_blank', 'noopener')
  }
  // Whoever may not enter it is not offered the door.
  if (!mayOpen || !mayEnter) return null
  return (
    <div className="mk-apps">
      {apps.map((app) => (
        <button key={app} type="button" className="mk-app" disabled={open.isPending} onClick={() => void go({ app }).catch(() => undefined)}>
          <strong>{t(`app.${app}.name`)}</strong>
          <span className="zs-soft">{t(`app.${app}.note`)}</span>
        </button>
      ))}
      <div className="mk-app">
        <strong>{t('app.port.name')}</strong>
        <Space.Compact>
          <NumberInput size="small" min={1} max={65_535} value={port} onChange={setPort} aria-label={t('app.port.label')} placeholder="7860" />
          <Button
            size="small"
            disabled={port === null || !Number.isInteger(port) || port < 1 || port > 65_535}
            loading={open.isPending}
            onClick={() => port !== null && void go({ app: 'port', port }).catch(() => undefined)}
          >
            {t('app.port.open')}
          </Button>
        </Space.Compact>
      </div>
    </div>
  )
}
