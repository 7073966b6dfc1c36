import { lazy, Suspense } from 'react'
import { useTranslation } from '../i18n.ts'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { cloudLoad } from '@zhisuan/contract/constants'
import './cloudLabels.css'

/** How full a cloud is, in a word. Exactly 0.9 has none, as specified; nor has a cloud that was never reached. */
export function LoadLabel({ usage }: { readonly usage: number | null }) {
  const { t } = useTranslation()
  const load = usage === null ? null : cloudLoad(usage)
  return load === null ? null : <span className={`zs-label zs-load-${load}`}>{t(`cloud.load.${load}`)}</span>
}

// Most clouds have none, and what a label may be is more script than showing it.
const LabelList = lazy(() => import('./LabelList.tsx'))

/** The labels that an administrator gave a cloud: the first three, the rest as +N. Texts that are no label are left out. */
export const CloudLabels = ({ labels }: { readonly labels: readonly string[] }) =>
  labels.length === 0 ? null : (
    <Suspense>
      <LabelList labels={labels} />
    </Suspense>
  )

/** A cloud as people recognise it: name, whether it is real, how it is, how full it is. */
export function CloudLine({ cloud, labels = true }: { readonly cloud: CloudBasic; readonly labels?: boolean }) {
  const { t } = useTranslation()
  return (
    <span className="zs-cloud">
      <span className="zs-cut">{cloud.name}</span>
      {cloud.sandbox && <span className="zs-label zs-label-sandbox">{t('cloud.sandbox')}</span>}
      {cloud.status !== 'active' && <span className="zs-label zs-load-tight">{t(`cloud.status.${cloud.status}`)}</span>}
      {(cloud.health === 'unreachable' || cloud.health === 'unauthorised') && (
        <span className="zs-label zs-load-full">{t(`cloud.health.${cloud.health}`)}</span>
      )}
      {cloud.health === 'degraded' && <span className="zs-label zs-load-tight">{t('cloud.health.degraded')}</span>}
      <LoadLabel usage={cloud.usage} />
      {labels && <CloudLabels labels={cloud.labels} />}
    </span>
  )
}
