import Tooltip from 'antd/es/tooltip'
import { useTranslation } from 'react-i18next'
import { parseCloudLabel, type CloudBasic, type CloudLabel } from '@zhisuan/contract/cmp/cloud'
import { cloudLoad, constants } from '@zhisuan/contract/constants'
import './cloudLabels.css'

/** How full a cloud is, in a word. Exactly 0.9 has none, as specified; nor has a cloud that was never reached. */
export function LoadLabel({ usage }: { readonly usage: number | null }) {
  const { t } = useTranslation()
  const load = usage === null ? null : cloudLoad(usage)
  return load === null ? null : <span className={`zs-label zs-load-${load}`}>{t(`cloud.load.${load}`)}</span>
}

/** CSS takes whatever an administrator typed; a quotation mark must not end the address. */
const imageOf = (label: CloudLabel): object =>
  label.imgUrl === undefined
    ? {}
    : {
        backgroundImage: `url("${label.imgUrl.replace(/["\\\n]/g, encodeURIComponent)}")`,
        backgroundSize: label.imgSize ?? 'contain',
        backgroundPosition: label.imgPosition ?? 'left center',
        backgroundRepeat: 'no-repeat',
      }

/** The labels that an administrator gave a cloud: the first three, the rest as +N. Texts that are no label are left out. */
export function CloudLabels({ labels }: { readonly labels: readonly string[] }) {
  const { t } = useTranslation()
  const parsed = labels.flatMap((text) => parseCloudLabel(text) ?? [])
  const rest = parsed.slice(constants.cloudLabelsShown)
  return (
    <>
      {parsed.slice(0, constants.cloudLabelsShown).map((label, index) => (
        <span key={index} className="zs-label" style={{ color: label.textColor, backgroundColor: label.bgColor, ...imageOf(label) }}>
          {label.label}
        </span>
      ))}
      {rest.length > 0 && (
        <Tooltip title={rest.map((label) => label.label).join('、')}>
          <span className="zs-label">
            <span aria-hidden="true">+{rest.length}</span>
            <span className="zs-hidden">{t('cloud.moreLabels', { count: rest.length })}</span>
          </span>
        </Tooltip>
      )}
    </>
  )
}

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
