import { constants } from '@zhisuan/contract/constants'
import { computeSecurityGroups } from '@zhisuan/contract/compute/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { PortsOf } from '../network/PortsOf.tsx'
import { RulesTable } from './RulesTable.tsx'
import { useSecurityGroupActions } from './useSecurityGroupActions.tsx'

/** One security group: what it lets in and out, and which ports it guards. */
export default function SecurityGroupDetail() {
  const { t } = useTranslation('computeSecurity')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(
    computeSecurityGroups.get,
    { params: { cloud_id: cloudId ?? '', id } },
    { enabled: cloudId !== null, refreshMs: constants.listRefreshMs },
  )
  const { actionsOf } = useSecurityGroupActions(cloudId, () => void navigate(paths.compute.securityGroup.list()))
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.securityGroup.list() }}
          title={(group) => (group.name === '' ? group.id : group.name)}
          actions={actionsOf}
          facts={(group) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{group.id}</span> },
            { key: 'ports', label: t('column.ports'), value: format.number(group.port_count) },
            ...(platform && group.keystone_project_id !== null
              ? [{ key: 'owner', label: t('column.owner'), value: group.names[group.keystone_project_id] ?? group.keystone_project_id }]
              : []),
            { key: 'description', label: t('column.description'), value: group.description === '' ? format.nothing : group.description },
          ]}
          tabs={(group) => [
            ...(['ingress', 'egress'] as const).map((direction) => ({
              key: direction,
              label: `${t(`tab.${direction}`)} (${group.rules.filter((rule) => rule.direction === direction).length})`,
              content: <RulesTable key={direction} cloudId={cloudId ?? ''} group={group} direction={direction} />,
            })),
            // The groups of a port are chosen where it is changed.
            {
              key: 'ports',
              label: t('tab.ports'),
              content: (
                <PortsOf
                  cloudId={cloudId}
                  only={({ security_group_ids }) => security_group_ids.includes(group.id)}
                  changes={['edit']}
                  empty={{ title: t('ports.empty'), note: t('ports.emptyNote') }}
                />
              ),
            },
          ]}
        />
      )}
    </ComputePage>
  )
}
