import ExclamationCircleFilled from '@ant-design/icons/es/icons/ExclamationCircleFilled'
import Tooltip from 'antd/es/tooltip'
import { StatusTag, type StatusTone } from '../../../kit/StatusTag.tsx'
import '../nextstack.css'

/** A status, and what went wrong last: also of what works although its last operation failed. */
export function StateTag({ tone, text, reason }: { readonly tone: StatusTone; readonly text: string; readonly reason: string | null }) {
  return (
    <span className="zs-state">
      <StatusTag tone={tone}>{text}</StatusTag>
      {reason !== null && (
        <Tooltip title={reason}>
          <ExclamationCircleFilled className="ns-status-reason" tabIndex={0} role="img" aria-label={reason} />
        </Tooltip>
      )}
    </span>
  )
}
