import { kindTexts } from '@zhisuan/contract/kindTexts'
import { stats, type CountedKind } from '@zhisuan/contract/omc/stats'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import './operations.css'

const lists: Readonly<Record<CountedKind, () => string>> = {
  'ecrm.edge': paths.container.node.list,
  'nextstack.vm': paths.nextstack.vm.list,
  'cis.container': paths.container.deployment.list,
  'aos.stack': paths.container.application.list,
  'nextstack.volume': paths.nextstack.volume.list,
  'nextstack.image': paths.nextstack.privateImage.list,
}
const names: Readonly<Record<CountedKind, string>> = {
  'ecrm.edge': kindTexts.ecrm.edge,
  'nextstack.vm': kindTexts.nextstack.vm,
  'cis.container': kindTexts.cis.container,
  'aos.stack': kindTexts.aos.stack,
  'nextstack.volume': kindTexts.nextstack.volume,
  'nextstack.image': kindTexts.nextstack.image,
}

/** How many there are of each kind, and of how many somebody has to know. */
export function CountTiles() {
  const { t } = useTranslation('operations')
  const { data, error, refetch } = useCall(stats.counts, {}, { silent: true, refreshMs: 10_000 })
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <ul className="om-tiles" aria-label={t('stats.counts')} aria-busy={data === undefined}>
      {(data?.items ?? []).map(({ kind, total, trouble }) => (
        <li key={kind}>
          <Link to={lists[kind]()} className="om-tile">
            <span className="zs-soft">{names[kind]}</span>
            <strong>{format.number(total)}</strong>
            <span className={trouble > 0 ? 'zs-bad' : 'zs-soft'}>
              {trouble > 0 ? t('stats.trouble', { count: trouble }) : total > 0 ? t('stats.fine') : t('stats.noneYet')}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
