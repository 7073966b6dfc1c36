import Alert from 'antd/es/alert'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useOne } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { paths } from '../../paths.ts'
import { ContainerFiles } from './ContainerFiles.tsx'
import { ContainerHistory } from './ContainerHistory.tsx'
import { ContainerLogs } from './ContainerLogs.tsx'
import { ContainerOverview } from './ContainerOverview.tsx'
import { ContainerSpecFacts } from './ContainerSpecFacts.tsx'
import { ContainerState } from './ContainerState.tsx'
import { ContainerTerminal } from './ContainerTerminal.tsx'
import { isPassing } from './containerRules.ts'
import { useContainerActions } from './useContainerActions.tsx'

/** A container of a deployment. */
export default function ContainerDetail() {
  return <ContainerPage />
}

/**
 * One container: what it is, how it is, what it prints, what is in it, and a way in.
 * @param back where to go when it is gone, and what that is called
 */
export function ContainerPage({ back }: GoneProps) {
  const { t } = useTranslation('container')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(containers.get, { params: { id } }, { refreshMs: (container) => whilePassing(container, isPassing) })
  const { actionsOf } = useContainerActions(() => void navigate(paths.container.deployment.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('detail.gone'), note: t('detail.goneNote'), to: back?.to ?? paths.container.deployment.list(), back: back?.text ?? t('detail.back') }}
      title={({ name }) => name}
      status={(container) => <ContainerState container={container} />}
      actions={actionsOf}
      about={({ id }) => ({ kind: 'cis.container', id })}
      notice={(container) => <Trouble container={container} />}
      tabs={(container) => [
        { key: 'overview', label: t('detail.tab.overview'), content: <ContainerOverview container={container} /> },
        { key: 'logs', label: t('detail.tab.logs'), content: <ContainerLogs container={container} /> },
        { key: 'files', label: t('detail.tab.files'), content: <ContainerFiles container={container} /> },
        { key: 'terminal', label: t('detail.tab.terminal'), content: <ContainerTerminal container={container} /> },
        { key: 'spec', label: t('detail.tab.spec'), content: <ContainerSpecFacts spec={container.spec} /> },
        { key: 'operations', label: t('detail.tab.operations'), content: <ContainerHistory container={container} /> },
      ]}
    />
  )
}

interface GoneProps {
  readonly back?: { readonly to: string; readonly text: string }
}

/** What went wrong last, in full: the tag beside the title only hints at it. */
function Trouble({ container: { status, error, edge, service } }: { readonly container: Container }) {
  const { t } = useTranslation('container')
  return (
    <>
      {status === 'lost' && (
        <Alert
          className="zs-above"
          type="error"
          showIcon
          title={t('detail.lost')}
          description={t(service === null ? 'statusNote.lost' : 'detail.lostOfStack')}
        />
      )}
      {edge.online && status === 'unknown' && (
        <Alert className="zs-above" type="warning" showIcon title={t('node.dockerAway')} description={t('detail.offlineNote')} />
      )}
      {!edge.online && <Alert className="zs-above" type="warning" showIcon title={t('detail.offline')} description={t('detail.offlineNote')} />}
      {error !== null && <Alert className="zs-above" type={status === 'error' ? 'error' : 'warning'} showIcon title={t('detail.failed')} description={error} />}
    </>
  )
}
