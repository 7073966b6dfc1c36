import Alert from 'antd/es/alert'
import { clouds, type CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useLocation, useSearchParams } from 'react-router'
import { NoCloud } from '../../kit/NoCloud.tsx'
import { cloudParameter, paths } from '../../paths.ts'
import { useClouds } from '../../session/cloud.ts'
import { onCloudChoice, readChoiceHere, readLastChoice, writeCloudChoice } from '../../session/cloudChoice.ts'
import { useMayCall } from '../../session/user.ts'

/**
 * What every page of the second family stands in: the chosen cloud, what has to be known of it first, and what is
 * said where there is none. While clouds load the page shows itself empty.
 */
export function ComputePage({ children }: { readonly children: (cloud: CloudBasic | null) => ReactNode }) {
  const { selected: cloud, loading } = useClouds()
  useCloudInAddress(cloud)
  if (!loading && (cloud === null || cloud.product === 'nextstack')) return <NoCloud family="compute" />
  return (
    <>
      {cloud !== null && <CloudTrouble cloud={cloud} />}
      {children(cloud)}
    </>
  )
}

/** Keeps the address and the choice about the same cloud, whichever of them changes. */
function useCloudInAddress(cloud: CloudBasic | null): void {
  const [search, setSearch] = useSearchParams()
  const { pathname } = useLocation()
  const named = search.get(cloudParameter)
  const chosen = useSyncExternalStore(onCloudChoice, readChoiceHere)
  const before = useRef(chosen)
  useEffect(() => {
    const chosenNow = chosen !== before.current
    before.current = chosen
    // Somebody is on their way elsewhere: this would take them back.
    if (location.pathname !== pathname) return
    const id = chosenNow ? chosen : named === null ? (cloud?.cloud_id ?? null) : null
    if (id !== null && id !== named)
      setSearch((now) => new URLSearchParams([...[...now].filter(([key]) => key !== cloudParameter), [cloudParameter, id]]), { replace: true })
    // Whoever followed a link goes on in that cloud.
    else if (named !== null && named === cloud?.cloud_id && named !== readLastChoice()) writeCloudChoice(named)
  }, [chosen, named, cloud?.cloud_id, pathname, setSearch])
}

/** The chosen cloud, where it is of this family. */
export function useComputeCloud(): CloudBasic | null {
  const { selected } = useClouds()
  return selected !== null && selected.product !== 'nextstack' ? selected : null
}

function CloudTrouble({ cloud }: { readonly cloud: CloudBasic }) {
  const { t } = useTranslation('compute')
  const mayManage = useMayCall(clouds.action)
  const trouble = cloud.status !== 'active' ? cloud.status : cloud.health === 'unreachable' || cloud.health === 'unauthorised' ? cloud.health : null
  if (trouble === null) return null
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
