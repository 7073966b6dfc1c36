import Button from 'antd/es/button'
import type { VolumeSnapshot } from '@zhisuan/contract/nextstack/volume'
import { useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './storage.css'

/** More than anybody sees at once; the rest comes when asked for. */
const shownFirst = 20

/**
 * Snapshots of a volume on a line of time, from now backwards, one of them to choose. What lies
 * between now and the chosen one is what a restoration loses. Real radio buttons below.
 * @param snapshots newest first
 */
export function SnapshotLine({
  snapshots,
  chosen,
  onChoose,
}: {
  readonly snapshots: readonly VolumeSnapshot[]
  readonly chosen: string | null
  readonly onChoose: (id: string) => void
}) {
  const { t } = useTranslation('storage')
  const group = useId()
  const at = snapshots.findIndex(({ id }) => id === chosen)
  const [whole, setWhole] = useState(false)
  const shown = whole ? snapshots : snapshots.slice(0, Math.max(shownFirst, at + 1))
  const isLost = (index: number): boolean => at >= 0 && index < at
  return (
    <>
      <div role="radiogroup" aria-label={t('restore.choose')} className="st-line">
        <div className="st-point" data-lost={at >= 0}>
          <span className="st-now">{t('restore.now')}</span>
          <span className={at >= 0 ? 'zs-bad' : 'zs-soft'}>{at >= 0 ? t('restore.nowLost') : t('restore.nowNote')}</span>
        </div>
        {shown.map((snapshot, index) => {
          const off = snapshot.status !== 'available'
          return (
            <label key={snapshot.id} className="st-point" data-lost={isLost(index)} data-chosen={index === at}>
              <input type="radio" name={group} value={snapshot.id} checked={snapshot.id === chosen} disabled={off} onChange={() => onChoose(snapshot.id)} />
              <span>{snapshot.name}</span>
              <span className="zs-soft zs-number">
                {format.dateTime(snapshot.created_at)}
                {off && ` · ${t(`snapshot.status.${snapshot.status}`)}`}
                {snapshot.description !== '' && ` · ${snapshot.description}`}
              </span>
            </label>
          )
        })}
      </div>
      {shown.length < snapshots.length && (
        <Button type="link" onClick={() => setWhole(true)}>
          {t('restore.more', { count: snapshots.length - shown.length })}
        </Button>
      )}
    </>
  )
}
