import Antd from '../kit/Antd.tsx'
import UserMenu from './UserMenu.tsx'
import type { CurrentUser } from '../session/user.ts'

/** On public pages nothing else may be antd's. */
export default function PublicUserMenu({ user }: { readonly user: CurrentUser }) {
  return (
    <Antd>
      <UserMenu user={user} />
    </Antd>
  )
}
