import { clouds } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../i18n.ts'
import { Link } from 'react-router'
import { paths } from '../paths.ts'
import { useMayCall } from '../session/user.ts'
import type { MenuGroup } from './menu.ts'
import './frame.css'

/** Under a group that nothing is there for yet: the way to it, for who may go it. */
export function MenuMissing({ missing, onOpen }: { readonly missing: MenuGroup['missing']; readonly onOpen?: () => void }) {
  const { t } = useTranslation()
  const mayRegister = useMayCall(clouds.create)
  if (missing === null || !mayRegister) return null
  return (
    <p className="frame-missing zs-soft">
      {t('noCloud.none')}{' '}
      <Link className="zs-text-link" to={paths.platform.clouds()} onClick={onOpen}>
        {t('noCloud.toClouds')}
      </Link>
    </p>
  )
}
