import Descriptions from 'antd/es/descriptions'
import type { EdgeDetail } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { StatusTag, type StatusTone } from '../../kit/StatusTag.tsx'
import { upgradeNames } from './edgeRules.ts'

type UpgradeName = (typeof upgradeNames)[keyof typeof upgradeNames]

const tones: Readonly<Record<UpgradeName, StatusTone>> = {
  buildDone: 'busy',
  upgrading: 'busy',
  autoConfirm: 'busy',
  manualConfirm: 'warning',
  rollingBack: 'warning',
  failed: 'bad',
  complete: 'good',
}

/** The program on a node: which version runs, and how its last upgrade went. */
export function NodeAgent({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  const { upgrade } = edge
  return (
    <Descriptions
      size="small"
      column={1}
      items={[
        { key: 'version', label: t('column.agent'), children: edge.agent_version ?? format.nothing },
        { key: 'fingerprint', label: t('fact.fingerprint'), children: <span className="zs-code">{edge.fingerprint ?? format.nothing}</span> },
        ...(upgrade === null
          ? []
          : [
              { key: 'upgrade', label: t('upgrade.last'), children: t('upgrade.fromTo', { from: upgrade.from, to: upgrade.to }) },
              {
                key: 'status',
                label: t('upgrade.status'),
                children: <StatusTag tone={tones[upgradeNames[upgrade.status]]}>{t(`upgrade.state.${upgradeNames[upgrade.status]}`)}</StatusTag>,
              },
              { key: 'changed', label: t('upgrade.changed'), children: format.dateTime(upgrade.changed_at) },
              ...(upgrade.error === null ? [] : [{ key: 'error', label: t('upgrade.error'), children: <span className="zs-bad">{upgrade.error}</span> }]),
            ]),
      ]}
    />
  )
}
