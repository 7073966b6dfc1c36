import ExclamationCircleFilled from '@ant-design/icons/es/icons/ExclamationCircleFilled'
import Tooltip from 'antd/es/tooltip'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { vmTones } from './vmRules.ts'
import '../nextstack.css'

/** The status, and what went wrong last: also of an instance that runs although its last operation failed. */
export function VmStatusTag({ vm }: { readonly vm: Pick<Vm, 'status' | 'error'> }) {
  const { t } = useTranslation('nextstack')
  const reason = vm.error ?? (vm.status === 'lost' ? t('lostReason') : null)
  return (
    <span className="zs-state">
      <StatusTag tone={vmTones[vm.status]}>{t(`status.${vm.status}`)}</StatusTag>
      {reason !== null && (
        <Tooltip title={reason}>
          <ExclamationCircleFilled className="ns-status-reason" tabIndex={0} role="img" aria-label={reason} />
        </Tooltip>
      )}
    </span>
  )
}
