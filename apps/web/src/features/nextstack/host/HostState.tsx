import Tag from 'antd/es/tag'
import type { Host } from '@zhisuan/contract/nextstack/host'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { hostTones } from './hostRules.ts'

/** How a host is, and whether it takes new instances. */
export function HostState({ host }: { readonly host: Pick<Host, 'status' | 'schedulable'> }) {
  const { t } = useTranslation('hardware')
  return (
    <span className="zs-state zs-state-wrap">
      <StatusTag tone={hostTones[host.status]}>{t(`status.${host.status}`)}</StatusTag>
      {!host.schedulable && host.status !== 'gone' && <Tag>{t('unschedulable')}</Tag>}
    </span>
  )
}
