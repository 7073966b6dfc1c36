import SearchOutlined from '@ant-design/icons/es/icons/SearchOutlined'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { Link, useNavigate } from 'react-router'
import { clearable } from '../kit/clearable.tsx'
import { useReturnFocus } from '../kit/focus.ts'
import { forgetSearches, readSearches, rememberSearch } from '../kit/recentSearches.ts'
import type { Route } from '../routes.ts'
import type { Person } from '../session/guard.ts'
import { groupIcons } from './groupIcons.tsx'
import { menuOf, type MenuOf } from './menu.ts'
import { MenuMissing } from './MenuMissing.tsx'
import { usePages } from './pages.ts'
import './products.css'

const searchList = 'products'

/** All products by group, and a search over them. */
export default function ProductDrawer({
  person,
  offers,
  current,
  onClose,
}: {
  readonly person: Person
  readonly offers: MenuOf['offers']
  readonly current: Route
  readonly onClose: () => void
}) {
  const { t } = useTranslation(['shell', 'routes'])
  const { prefetch } = usePages()
  const navigate = useNavigate()
  useReturnFocus()
  const [text, setText] = useState('')
  const [recent, setRecent] = useState(() => readSearches(searchList))
  const wanted = text.trim().toLowerCase()
  const matches = (route: Route): boolean =>
    wanted === '' || `${t(`routes:${route.title}`)} ${t(`group.${route.group}`)} ${route.path}`.toLowerCase().includes(wanted)
  const groups = menuOf(person, { offers, current })
    .map(({ group, sections, missing }) => ({ group, missing, entries: sections.flatMap((section) => section.entries).filter(matches) }))
    .filter(({ entries }) => entries.length > 0)

  const open = (): void => {
    if (wanted !== '') rememberSearch(searchList, text)
    onClose()
  }

  return (
    <Drawer open placement="left" size={880} title={t('products.title')} onClose={onClose} classNames={{ body: 'frame-products' }}>
      <Input
        autoFocus
        allowClear={clearable}
        prefix={<SearchOutlined aria-hidden />}
        aria-label={t('products.search')}
        placeholder={t('products.search')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPressEnter={() => {
          const first = groups[0]?.entries[0]
          if (wanted === '' || first === undefined) return
          open()
          void navigate(first.path)
        }}
      />
      {recent.length > 0 && wanted === '' && (
        <div className="frame-recent">
          <span className="zs-soft">{t('products.recent')}</span>
          {recent.map((one) => (
            <Button key={one} size="small" onClick={() => setText(one)}>
              {one}
            </Button>
          ))}
          <Button
            size="small"
            type="link"
            onClick={() => {
              forgetSearches(searchList)
              setRecent([])
            }}
          >
            {t('products.forget')}
          </Button>
        </div>
      )}
      <div className="frame-products-groups">
        {groups.map(({ group, entries, missing }) => {
          const Icon = groupIcons[group]
          return (
            <section key={group}>
              <h2>
                <Icon aria-hidden /> {t(`group.${group}`)}
              </h2>
              <ul className="zs-list">
                {entries.map((route) => (
                  <li key={route.path}>
                    <Link to={route.path} onClick={open} onMouseEnter={() => prefetch(route)} aria-current={route.path === current.path ? 'page' : undefined}>
                      {t(`routes:${route.title}`)}
                    </Link>
                  </li>
                ))}
              </ul>
              <MenuMissing missing={missing} onOpen={onClose} />
            </section>
          )
        })}
      </div>
      {groups.length === 0 && <p className="zs-soft">{t('products.none')}</p>}
    </Drawer>
  )
}
