import ExclamationCircleFilled from '@ant-design/icons/es/icons/ExclamationCircleFilled'
import LockOutlined from '@ant-design/icons/es/icons/LockOutlined'
import Tooltip from 'antd/es/tooltip'
import type { ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { isPassing, toneOf } from './instanceRules.ts'

/** The state, how far it is, whether it is locked, and what went wrong in the cloud's words. */
export function InstanceStateTag({ instance }: { readonly instance: Pick<ComputeInstance, 'state' | 'fault' | 'locked' | 'progress'> }) {
  const { t } = useTranslation('computeInstance')
  const { state, fault, locked, progress } = instance
  return (
    <span className="zs-state">
      <StatusTag tone={toneOf(state)}>{t(`state.${state}`)}</StatusTag>
      {isPassing(instance) && progress > 0 && progress < 100 && <span className="zs-soft zs-number">{progress}%</span>}
      {locked && (
        <Tooltip title={t('locked')}>
          <LockOutlined className="zs-soft" tabIndex={0} role="img" aria-label={t('locked')} />
        </Tooltip>
      )}
      {fault !== null && (
        <Tooltip title={fault}>
          <ExclamationCircleFilled className="zs-bad" tabIndex={0} role="img" aria-label={fault} />
        </Tooltip>
      )}
    </span>
  )
}
