import Tooltip from 'antd/es/tooltip'
import { useTranslation } from '../i18n.ts'
import { parseCloudLabel, type CloudLabel } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'

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

/** The labels of a cloud as CloudLabels shows them. */
export default function LabelList({ labels }: { readonly labels: readonly string[] }) {
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
