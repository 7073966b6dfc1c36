import ArrowLeftOutlined from '@ant-design/icons/es/icons/ArrowLeftOutlined'
import Button from 'antd/es/button'
import type { Ref } from 'react'
import { useTranslation } from '../i18n.ts'
import { Link, useNavigate } from 'react-router'
import { isFirstPage } from '../kit/navigation.ts'
import { paths } from '../paths.ts'
import type { Route } from '../routes.ts'
import { routeOf } from './routeAt.ts'
import './frame.css'

/** Where one is, the way back, the page's title, and the places for what the page adds to them. */
export function PageHeader({
  route,
  title,
  onStatus,
  onActions,
}: {
  readonly route: Route
  /** The name of the thing that the page is about, instead of the route's title. */
  readonly title: string | null
  readonly onStatus: Ref<HTMLDivElement>
  readonly onActions: Ref<HTMLDivElement>
}) {
  const { t } = useTranslation(['shell', 'routes'])
  const navigate = useNavigate()
  const parent = route.parent === undefined ? null : routeOf(route.parent)
  const alone = route.group === 'index' || route.group === 'license' || route.group === 'general'
  const own = t(`routes:${route.title}`)

  const goBack = (): void => {
    if (route.back === 'parent' && parent !== null) void navigate(parent.path)
    else if (isFirstPage()) void navigate(paths.overview())
    else void navigate(-1)
  }

  return (
    <div className="frame-head">
      {/* A group of one page is no place in a hierarchy. */}
      {(parent !== null || (route.kind === 'menu' && !alone)) && (
        <nav className="frame-crumbs" aria-label={t('nav.crumbs')}>
          <ol>
            {!alone && <li>{t(`group.${route.group}`)}</li>}
            {parent !== null && (
              <li>
                <Link to={parent.path}>{t(`routes:${parent.title}`)}</Link>
              </li>
            )}
            <li aria-current="page">{own}</li>
          </ol>
        </nav>
      )}
      <div className="frame-head-line">
        {route.back !== undefined && (
          <Button
            type="text"
            className="frame-back"
            icon={<ArrowLeftOutlined />}
            aria-label={parent === null ? t('nav.back') : t('nav.backTo', { page: t(`routes:${parent.title}`) })}
            onClick={goBack}
          />
        )}
        <h1 id="page-title" tabIndex={-1}>
          {title ?? own}
        </h1>
        <div className="frame-head-status" ref={onStatus} />
        <div className="frame-head-actions" ref={onActions} />
      </div>
    </div>
  )
}
