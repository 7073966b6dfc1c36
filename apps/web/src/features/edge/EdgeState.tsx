import Tag from 'antd/es/tag'
import type { Edge } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { awaitsConfirmation, edgeTones, isUpgrading } from './edgeRules.ts'

/** How a node is, whether it takes new containers, and whether its agent is being replaced. */
export function EdgeState({ edge }: { readonly edge: Pick<Edge, 'status' | 'activation' | 'upgrade' | 'docker_trouble'> }) {
  const { t } = useTranslation('edge')
  return (
    <span className="zs-state zs-state-wrap">
      {edge.docker_trouble === null ? (
        <StatusTag tone={edgeTones[edge.status]}>{t(`status.${edge.status}`)}</StatusTag>
      ) : (
        <>
          <StatusTag tone="warning">{t('dockerAway')}</StatusTag>
          <span className="zs-soft">{t(`dockerTrouble.${edge.docker_trouble}`)}</span>
        </>
      )}
      {edge.activation === 'deactive' && <Tag>{t('deactive')}</Tag>}
      {isUpgrading(edge) && <Tag>{t('upgrade.tag')}</Tag>}
      {awaitsConfirmation(edge) && <Tag>{t('upgrade.confirmTag')}</Tag>}
    </span>
  )
}
