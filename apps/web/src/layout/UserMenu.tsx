import DownOutlined from '@ant-design/icons/es/icons/DownOutlined'
import Button from 'antd/es/button'
import Dropdown from 'antd/es/dropdown'
import { useTranslation } from '../i18n.ts'
import { Link, useNavigate } from 'react-router'
import { accounts } from '@zhisuan/contract/bill/account'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { mayOpen } from '../session/guard.ts'
import { useCall } from '../api/hooks.ts'
import { endKey, usePopupFocus } from '../kit/focus.ts'
import * as format from '../kit/format.ts'
import { paths } from '../paths.ts'
import { signOut } from '../session/session.ts'
import { balanceOwner, personOf, useMayCall, type CurrentUser } from '../session/user.ts'
import { routeOf } from './routeAt.ts'
import './frame.css'

/** Balance changes with every hour that is billed. */
const balanceRefreshMs = 60_000

export default function UserMenu({ user }: { readonly user: CurrentUser }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const focus = usePopupFocus()
  const owner = balanceOwner(user)
  const mayRead = useMayCall(accounts.get)
  const { data } = useCall(
    accounts.get,
    { params: { id: owner ?? user.id } },
    { enabled: mayRead && owner !== null && !user.must_change_password, silent: true, refreshMs: balanceRefreshMs },
  )
  const balance = data === undefined ? format.nothing : format.money(data.balance)
  const wallet = routeOf(paths.billing.wallet())
  const mayCharge = wallet !== null && mayOpen(wallet, personOf(user))
  const displayName = user.nickname === '' ? user.name : user.nickname

  const leave = async (): Promise<void> => {
    await signOut()
    await navigate(paths.login())
  }

  return (
    <>
      {mayRead && (
        <span className="frame-balance frame-wide">
          {t('user.balance')} <span className="zs-number">{balance}</span>
        </span>
      )}
      <Dropdown
        {...focus}
        trigger={['click']}
        placement="bottomRight"
        menu={{
          className: 'frame-user-menu',
          items: [
            {
              key: 'who',
              type: 'group',
              label: (
                <span className="frame-user-who">
                  <strong>{displayName}</strong>
                  {user.bp_name !== null && <span>{user.bp_name}</span>}
                </span>
              ),
              children: [],
            },
            { type: 'divider' },
            {
              key: 'balance',
              label: (
                <span className="frame-user-balance">
                  <span>
                    {t('user.balance')} <span className="zs-number">{balance}</span>
                  </span>
                  {mayCharge && <Link to={paths.billing.wallet()}>{t('user.charge')}</Link>}
                </span>
              ),
            },
            { key: 'account', label: <Link to={paths.account()}>{t('user.account')}</Link> },
            ...(isPlatformKind(user.kind) ? [{ key: 'licence', label: <Link to={paths.licence()}>{t('user.licence')}</Link> }] : []),
            { type: 'divider' },
            { key: 'signOut', label: t('user.signOut') },
          ],
          onClick: ({ key, domEvent }) => {
            endKey(domEvent)
            if (key === 'signOut') void leave()
            // The keyboard chooses the entry, not the link in it.
            if (domEvent.type === 'keydown') {
              if (key === 'balance' && mayCharge) void navigate(paths.billing.wallet())
              if (key === 'account') void navigate(paths.account())
              if (key === 'licence') void navigate(paths.licence())
            }
          },
        }}
      >
        {/* Named by its text: an aria-label would have to repeat all that is seen, the avatar's letter too. */}
        <Button type="text" className="frame-user" aria-haspopup="menu">
          <span className="zs-hidden">{t('user.menu', { name: displayName })}</span>
          <span className="frame-avatar" aria-hidden="true">
            {[...displayName][0]?.toUpperCase()}
          </span>
          <span className="zs-cut frame-wide" aria-hidden="true">
            {displayName}
          </span>
          <DownOutlined className="frame-caret" aria-hidden />
        </Button>
      </Dropdown>
    </>
  )
}
