import Alert from 'antd/es/alert'
import Tag from 'antd/es/tag'
import Tooltip from 'antd/es/tooltip'
import { clouds, type CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { useMayCall } from '../../session/user.ts'
import './nextstack.css'

/** What is in the way of working on a cloud; null where nothing is. An administrator's word comes before what was observed. */
export function troubleOf(cloud: Pick<CloudBasic, 'status' | 'health'>): 'maintenance' | 'offline' | 'unreachable' | 'unauthorised' | null {
  if (cloud.status !== 'active') return cloud.status
  return cloud.health === 'unreachable' || cloud.health === 'unauthorised' ? cloud.health : null
}

/** Says what a person has to know of the cloud first: what is the matter, and what still works. Nothing while it is not known. */
export function CloudNotice({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('nextstack')
  const mayManage = useMayCall(clouds.action)
  const trouble = cloud === null ? null : troubleOf(cloud)
  if (cloud === null || trouble === null) return null
  return (
    <Alert
      className="zs-above"
      showIcon
      type={trouble === 'maintenance' ? 'info' : 'warning'}
      title={t(`notice.${trouble}`, { name: cloud.name })}
      description={t(`notice.${trouble}Note`)}
      action={mayManage && <Link to={paths.platform.clouds()}>{t('notice.toClouds')}</Link>}
    />
  )
}

/** Stands beside everything that runs in the sandbox. */
export function SandboxTag({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('nextstack')
  if (cloud?.sandbox !== true) return null
  return (
    <Tooltip title={t('sandboxNote')}>
      <Tag color="purple" className="ns-sandbox" tabIndex={0}>
        {t('sandbox')}
      </Tag>
    </Tooltip>
  )
}
