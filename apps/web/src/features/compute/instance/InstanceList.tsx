import { computeInstances, instanceStates, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useTranslation } from '../../../i18n.ts'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { QuotaCard } from '../tenancy/QuotaCard.tsx'
import { sortedAddresses } from './InstanceAddresses.tsx'
import { instanceColumns } from './instanceColumns.tsx'
import { isPassing } from './instanceRules.ts'
import { useInstanceActions } from './useInstanceActions.tsx'
import '../../../kit/actions.css'

/** Instances of the chosen cloud. */
export default function InstanceList() {
  const { t } = useTranslation('computeInstance')
  const platform = useIsPlatform()
  const cloud = useComputeCloud()
  const { actionsOf, batchActions } = useInstanceActions(cloud)
  return (
    <ComputePage>
      {() => (
        <>
          <QuotaCard cloudId={cloud?.cloud_id ?? null} about={['instances', 'cores', 'memory_bytes']} />
          <CloudTable
            call={computeInstances.list}
            cloudId={cloud?.cloud_id ?? null}
            columns={(name) => instanceColumns(t, name, platform)}
            filters={[
              filter.oneOf(
                'state',
                t('column.state'),
                instanceStates.filter((state) => state !== 'soft_deleted' && state !== 'deleted'),
                (state) => t(`state.${state}`),
              ),
              filter.keyword(t('keyword')),
            ]}
            textOf={(one) =>
              [
                one.name,
                one.id,
                one.description,
                one.flavor?.name ?? '',
                one.zone,
                one.host ?? '',
                ...one.addresses.map(({ address }) => address),
                ...one.tags,
              ].join(' ')
            }
            matches={{ state: (one, value) => one.state === value }}
            sortBy={sortBy}
            sortFirst="-created"
            passing={isPassing}
            rowActions={actionsOf}
            batchActions={batchActions}
            create={{
              call: computeInstances.create,
              label: t('list.create'),
              disabledReason: cloud === null || cloud.status === 'active' ? null : t(`list.off.${cloud.status}`),
              href: paths.compute.instance.add(),
            }}
            empty={{ title: t('list.empty', { cloud: cloud?.name ?? '' }), note: t('list.emptyNote') }}
          />
        </>
      )}
    </ComputePage>
  )
}

const sortBy: Readonly<Record<string, (one: ComputeInstance) => string | number | null>> = {
  name: ({ name }) => name,
  state: ({ state }) => instanceStates.indexOf(state),
  addresses: ({ addresses }) => sortedAddresses(addresses)[0]?.address ?? null,
  flavor: ({ flavor }) => (flavor === null ? null : flavor.memory_bytes),
  zone: ({ zone }) => (zone === '' ? null : zone),
  host: ({ host }) => host,
  created: ({ created_at }) => created_at,
}
