import { useTranslation } from '../i18n.ts'
import { Link } from 'react-router'
import type { Route } from '../routes.ts'
import { groupIcons } from './groupIcons.tsx'
import { MenuMissing } from './MenuMissing.tsx'
import type { MenuGroup } from './menu.ts'
import { usePages } from './pages.ts'
import './frame.css'

/** The menu of the current group. Highlights the parent on its detail and add pages. */
export function Sidebar({ menu, current, onOpen }: { readonly menu: MenuGroup; readonly current: Route; readonly onOpen?: () => void }) {
  const { t } = useTranslation(['shell', 'routes'])
  const { prefetch } = usePages()
  const Icon = groupIcons[menu.group]
  const active = current.parent ?? current.path
  return (
    <nav className="frame-side-nav" aria-label={t(`group.${menu.group}`)}>
      <p className="frame-side-title">
        <Icon aria-hidden /> {t(`group.${menu.group}`)}
      </p>
      {menu.sections.map(({ section, entries }) => (
        <div key={section ?? ''}>
          {section !== null && menu.sections.length > 1 && <p className="frame-side-section">{t(`section.${section}`)}</p>}
          <ul className="zs-list">
            {entries.map((route) => (
              <li key={route.path}>
                <Link
                  to={route.path}
                  className={route.path === active ? 'frame-active' : ''}
                  aria-current={route.path === current.path ? 'page' : route.path === active ? 'true' : undefined}
                  onMouseEnter={() => prefetch(route)}
                  onFocus={() => prefetch(route)}
                  onClick={onOpen}
                >
                  {t(`routes:${route.title}`)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <MenuMissing missing={menu.missing} {...(onOpen !== undefined && { onOpen })} />
    </nav>
  )
}
