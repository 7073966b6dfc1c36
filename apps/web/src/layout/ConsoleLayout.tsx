import AppstoreOutlined from '@ant-design/icons/es/icons/AppstoreOutlined'
import MenuFoldOutlined from '@ant-design/icons/es/icons/MenuFoldOutlined'
import MenuOutlined from '@ant-design/icons/es/icons/MenuOutlined'
import MenuUnfoldOutlined from '@ant-design/icons/es/icons/MenuUnfoldOutlined'
import App from 'antd/es/app'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { NavLink } from 'react-router'
import { mayOpen } from '../session/guard.ts'
import { useChanges } from '../session/changes.ts'
import { PageHeadContext } from '../kit/PageHead.tsx'
import { paths } from '../paths.ts'
import { isBuilt, type Route } from '../routes.ts'
import { readSidebarOpen, writeSidebarOpen } from '../api/cookies.ts'
import { personOf, type CurrentUser } from '../session/user.ts'
import { AccountNotice } from './AccountNotice.tsx'
import Antd from '../kit/Antd.tsx'
import { Brand } from './Brand.tsx'
import { CloudSwitcher } from './CloudSwitcher.tsx'
import { isCloudGroup, menuOf } from './menu.ts'
import { MessageBell } from './MessageBell.tsx'
import { PageHeader } from './PageHeader.tsx'
import { PageOutlet } from './PageOutlet.tsx'
import { routeOf } from './routeAt.ts'
import { Sidebar } from './Sidebar.tsx'
import { SkipLink } from './SkipLink.tsx'
import { TaskBell } from './TaskBell.tsx'
import { useNarrow } from './useNarrow.ts'
import UserMenu from './UserMenu.tsx'
import './frame.css'
import './products.css'

const ProductDrawer = lazy(() => import('./ProductDrawer.tsx'))

/** The console: top bar, the menu of the current group, the page. */
export default function ConsoleLayout({
  route,
  user,
  title,
  onTitle,
}: {
  readonly route: Route
  readonly user: CurrentUser
  readonly title: string | null
  readonly onTitle: (title: string | null) => void
}) {
  const { t } = useTranslation()
  const person = personOf(user)
  const narrow = useNarrow()
  const [products, setProducts] = useState(false)
  const [menuOpen, setMenuOpen] = useState(false)
  const [sidebar, setSidebar] = useState(readSidebarOpen)
  const [status, setStatus] = useState<HTMLElement | null>(null)
  const [actions, setActions] = useState<HTMLElement | null>(null)
  const menu = menuOf(person, { offers: user.offers, current: route }).find(({ group }) => group === route.group)
  // Overview, licence and messages are groups of one page: a menu would only repeat its title.
  const hasMenu = menu !== undefined && route.group !== 'index' && route.group !== 'license' && route.group !== 'general'
  const overview = routeOf(paths.overview())
  // Whoever answers work orders begins with those of others.
  const desk = routeOf(paths.workOrder.list())
  const withSwitcher = isCloudGroup(route.group) && route.path !== paths.nextstack.vm.add.template

  useEffect(() => setMenuOpen(false), [route, narrow])
  useChanges()

  const links = <>{overview !== null && mayOpen(overview, person) && <NavLink to={paths.overview()}>{t('nav.overview')}</NavLink>}</>
  const siteLinks = (
    <>
      {isBuilt(paths.market.list.template) && <NavLink to={paths.market.list()}>{t('nav.market')}</NavLink>}
      {isBuilt(paths.warehouse.list.template) && <NavLink to={paths.warehouse.list()}>{t('nav.warehouse')}</NavLink>}
      <NavLink to={desk !== null && mayOpen(desk, person) ? paths.workOrder.list() : paths.ticket.list()}>{t('nav.tickets')}</NavLink>
      <NavLink to={paths.help.list()}>{t('nav.help')}</NavLink>
    </>
  )

  return (
    <Antd>
      <App component={false}>
        <div className="frame-console">
          <SkipLink />
          <header className="frame-top">
            {narrow ? (
              <Button type="text" icon={<MenuOutlined />} aria-label={t('nav.menu')} aria-expanded={menuOpen} onClick={() => setMenuOpen(true)} />
            ) : (
              <Button type="text" icon={<AppstoreOutlined aria-hidden />} aria-expanded={products} onClick={() => setProducts(true)}>
                {t('products.open')}
              </Button>
            )}
            <Brand />
            {!narrow && (
              <nav className="frame-top-links" aria-label={t('nav.main')}>
                {links}
              </nav>
            )}
            {withSwitcher && <CloudSwitcher route={route} narrow={narrow} />}
            {!narrow && (
              <nav className="frame-top-links frame-top-site" aria-label={t('nav.site')}>
                {siteLinks}
              </nav>
            )}
            <div className="frame-top-end">
              <TaskBell />
              <MessageBell />
              <UserMenu user={user} />
            </div>
          </header>
          <div className="frame-body">
            {!narrow && hasMenu && (
              <aside className={sidebar ? 'frame-side' : 'frame-side frame-side-closed'}>
                {sidebar && <Sidebar menu={menu} current={route} />}
                <Button
                  type="text"
                  className="frame-side-toggle"
                  icon={sidebar ? <MenuFoldOutlined /> : <MenuUnfoldOutlined />}
                  aria-label={sidebar ? t('nav.fold') : t('nav.unfold')}
                  aria-expanded={sidebar}
                  onClick={() => {
                    writeSidebarOpen(!sidebar)
                    setSidebar(!sidebar)
                  }}
                />
              </aside>
            )}
            <main id="main" tabIndex={-1} className="frame-main">
              <PageHeadContext value={{ setTitle: onTitle, status, actions }}>
                {user.bp_id !== null && <AccountNotice id={user.bp_id} />}
                <PageHeader route={route} title={title} onStatus={setStatus} onActions={setActions} />
                <PageOutlet route={route} />
              </PageHeadContext>
            </main>
          </div>
          {narrow && (
            <Drawer
              open={menuOpen}
              placement="left"
              size={300}
              title={t('nav.menu')}
              onClose={() => setMenuOpen(false)}
              classNames={{ body: 'frame-mobile-menu' }}
            >
              {hasMenu && <Sidebar menu={menu} current={route} onOpen={() => setMenuOpen(false)} />}
              <nav className="frame-mobile-links" aria-label={t('nav.site')}>
                {links}
                {siteLinks}
                <Button
                  block
                  icon={<AppstoreOutlined aria-hidden />}
                  onClick={() => {
                    setMenuOpen(false)
                    setProducts(true)
                  }}
                >
                  {t('products.title')}
                </Button>
              </nav>
            </Drawer>
          )}
          {products && (
            <Suspense>
              <ProductDrawer person={person} offers={user.offers} current={route} onClose={() => setProducts(false)} />
            </Suspense>
          )}
        </div>
      </App>
    </Antd>
  )
}
