import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'
import { computeInstances, type ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import { type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { ActionMenu, type Action } from '../../../kit/actions.tsx'
import { paths } from '../../../paths.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { ActionLog } from './ActionLog.tsx'
import { ConsoleLog } from './ConsoleLog.tsx'
import { InstanceOverview } from './InstanceOverview.tsx'
import { isPassing } from './instanceRules.ts'
import { InstanceSnapshots } from './InstanceSnapshots.tsx'
import { InstanceStateTag } from './InstanceState.tsx'
import { InterfacesTab } from './InterfacesTab.tsx'
import { SerialConsole } from './SerialConsole.tsx'
import { TagsTab } from './TagsTab.tsx'
import { useInstanceActions } from './useInstanceActions.tsx'
import { VolumesTab } from './VolumesTab.tsx'

/** One instance: what it is, how it is, what hangs on it, and what was done to it. */
export default function InstanceDetail() {
  const { t } = useTranslation('computeInstance')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const cloud = useComputeCloud()
  const query = useOne(
    computeInstances.get,
    { params: { cloud_id: cloud?.cloud_id ?? '', id } },
    { enabled: cloud !== null, refreshMs: (one) => (one !== undefined && isPassing(one) ? 2_000 : constants.listRefreshMs) },
  )
  const { actionsOf } = useInstanceActions(cloud, () => void navigate(paths.compute.instance.list()))
  const of = (instance: ComputeInstanceDetail, cloudOf: CloudBasic) => ({ instance, cloud: cloudOf })
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ title: t('detail.gone'), note: t('detail.goneNote'), to: paths.compute.instance.list(), back: t('detail.back') }}
          title={(one) => one.name}
          status={(one) => <InstanceStateTag instance={one} />}
          actions={(one) => (one.recycled ? [] : actionsOf(one))}
          notice={(one) => (
            <>
              <Notice instance={one} actions={actionsOf(one)} />
              <FailedServices failed={one.failed} onRetry={() => void query.refetch()} />
            </>
          )}
          tabs={(one) =>
            cloud === null
              ? []
              : [
                  { key: 'overview', label: t('detail.tab.overview'), content: <InstanceOverview instance={one} /> },
                  { key: 'interfaces', label: t('detail.tab.interfaces'), content: <InterfacesTab {...of(one, cloud)} /> },
                  { key: 'volumes', label: t('detail.tab.volumes'), content: <VolumesTab {...of(one, cloud)} /> },
                  { key: 'snapshots', label: t('detail.tab.snapshots'), content: <InstanceSnapshots {...of(one, cloud)} /> },
                  { key: 'serial', label: t('detail.tab.serial'), content: <SerialConsole {...of(one, cloud)} /> },
                  { key: 'console', label: t('detail.tab.console'), content: <ConsoleLog {...of(one, cloud)} /> },
                  { key: 'actions', label: t('detail.tab.actions'), content: <ActionLog {...of(one, cloud)} /> },
                  { key: 'tags', label: t('detail.tab.tags'), content: <TagsTab {...of(one, cloud)} /> },
                ]
          }
        />
      )}
    </ComputePage>
  )
}

/** What somebody has to know, or to decide, before anything else. */
function Notice({ instance, actions }: { readonly instance: ComputeInstanceDetail; readonly actions: readonly Action[] }) {
  const { t } = useTranslation('computeInstance')
  const { state, fault, recycled } = instance
  const offer = (...keys: readonly string[]): ReactNode => <ActionMenu actions={actions.filter(({ key }) => keys.includes(key))} look="default" />
  return (
    <>
      {recycled && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('recycled.title')}
          description={t('recycled.note')}
          action={
            <Link to={paths.compute.instance.recovery()}>
              <Button>{t('list.toBin')}</Button>
            </Link>
          }
        />
      )}
      {!recycled && state === 'resized' && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('resized.title')}
          description={t('resized.note')}
          action={offer('confirmResize', 'revertResize')}
        />
      )}
      {!recycled && state === 'rescued' && (
        <Alert className="zs-above" type="info" showIcon title={t('rescued.title')} description={t('rescued.note')} action={offer('unrescue')} />
      )}
      {fault !== null && (
        <Alert
          className="zs-above"
          type={state === 'error' || state === 'create_failed' ? 'error' : 'warning'}
          showIcon
          title={t('fault')}
          description={fault}
        />
      )}
    </>
  )
}
