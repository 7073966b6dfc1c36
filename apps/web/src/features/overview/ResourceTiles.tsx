import ApartmentOutlined from '@ant-design/icons/es/icons/ApartmentOutlined'
import AppstoreOutlined from '@ant-design/icons/es/icons/AppstoreOutlined'
import CameraOutlined from '@ant-design/icons/es/icons/CameraOutlined'
import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import DesktopOutlined from '@ant-design/icons/es/icons/DesktopOutlined'
import GlobalOutlined from '@ant-design/icons/es/icons/GlobalOutlined'
import HddOutlined from '@ant-design/icons/es/icons/HddOutlined'
import { kindText } from '@zhisuan/contract/kindTexts'
import type { OverviewCounts, OverviewKind } from '@zhisuan/contract/nextstack/overview'
import type { ComponentType } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import * as format from '../../kit/format.ts'
import { listOf } from '../../kinds.ts'
import { byTone } from './counts.ts'
import './overview.css'

const icons: Readonly<Record<OverviewKind, ComponentType>> = {
  'nextstack.vm': DesktopOutlined,
  'nextstack.snapshot': CameraOutlined,
  'nextstack.volume': HddOutlined,
  'nextstack.volumeSnapshot': CopyOutlined,
  'nextstack.image': AppstoreOutlined,
  'nextstack.vpc': ApartmentOutlined,
  'nextstack.eip': GlobalOutlined,
}

/** How many there are of each kind, and how they are. */
export function ResourceTiles({ resources }: { readonly resources: readonly OverviewCounts[] }) {
  const { t } = useTranslation('overview')
  return (
    <section className="overview-tiles" aria-label={t('resources.title')}>
      {resources.map((counts) => (
        <Tile key={counts.kind} counts={counts} />
      ))}
    </section>
  )
}

function Tile({ counts }: { readonly counts: OverviewCounts }) {
  const { t } = useTranslation('overview')
  const { kind, total } = counts
  const Icon = icons[kind]
  const parts = byTone(counts)
  return (
    <Link to={listOf(kind)} className="overview-tile">
      <span className="overview-tile-name">
        <Icon aria-hidden /> {kindText(kind)}
      </span>
      <strong className="zs-number">{format.number(total)}</strong>
      {/* The words below say the same. */}
      <span className="overview-bar" aria-hidden="true">
        {parts.map(({ tone, count }) => (
          <span key={tone} className={`overview-part overview-${tone}`} style={{ flexGrow: count }} />
        ))}
      </span>
      <span className="overview-tile-note zs-number">
        {total === 0 && t('resources.none')}
        {parts.map(({ tone, count }) => (
          <span key={tone} className={`overview-word-${tone}`}>
            {t(`${kind === 'nextstack.vm' ? 'vmTone' : 'tone'}.${tone}`, { amount: format.number(count) })}
          </span>
        ))}
      </span>
    </Link>
  )
}
