import Skeleton from 'antd/es/skeleton'
import { containers } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { Link, useParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { Gone } from '../../kit/Gone.tsx'
import { PageActions, PageStatus, usePageTitle } from '../../kit/PageHead.tsx'
import './container.css'
import { paths } from '../../paths.ts'
import { ContainerState } from './ContainerState.tsx'
import { ContainerTerminal } from './ContainerTerminal.tsx'
import { isPassing } from './containerRules.ts'
import { pageOf } from '../../kit/containerText.ts'

/** A page that is the terminal of a container. */
export default function ContainerCommand() {
  const { t } = useTranslation('container')
  const { id = '' } = useParams()
  const { data, error, refetch } = useCall(containers.get, { params: { id } }, { silent: true, refreshMs: (container) => whilePassing(container, isPassing) })
  usePageTitle(data?.name)
  if (error?.status === 404) return <Gone title={t('detail.gone')} note={t('detail.goneNote')} to={paths.container.deployment.list()} back={t('detail.back')} />
  if (data === undefined)
    return <div className="zs-card">{error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}</div>
  return (
    <>
      <PageStatus>
        <ContainerState container={data} />
      </PageStatus>
      <PageActions>
        <Link to={pageOf(data)} className="zs-button zs-button-plain">
          {t('terminal.toDetail')}
        </Link>
      </PageActions>
      <div className="zs-card cn-command">
        <ContainerTerminal container={data} whole />
      </div>
    </>
  )
}
