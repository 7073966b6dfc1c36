import Alert from 'antd/es/alert'
import Progress from 'antd/es/progress'
import { useQueryClient } from '@tanstack/react-query'
import { edgeImages } from '@zhisuan/contract/ecrm/edge'
import { useEffect } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import * as format from '../../kit/format.ts'
import './edge.css'
import { layerPercent, layerState, pullPercent, type Pull } from './pullRules.ts'

/** How a pull stands: it goes on at the server, whoever looks. */
export function PullProgress({ edgeId, pullId, onClose }: { readonly edgeId: string; readonly pullId: string; readonly onClose: () => void }) {
  const { t } = useTranslation('edge')
  const client = useQueryClient()
  const { data: pull, error } = useCall(
    edgeImages.pull,
    { params: { id: edgeId, pull_id: pullId } },
    { silent: true, refreshMs: (last) => (last === undefined || last.status === 'running' ? 1_000 : false) },
  )
  const status = pull?.status
  useEffect(() => {
    if (status === 'succeeded') void client.invalidateQueries({ queryKey: [edgeImages.images.id] })
  }, [client, status])
  if (pull === undefined)
    return error === null ? null : (
      <Alert className="zs-above" type="error" showIcon closable={{ onClose }} title={t('pull.unread')} description={errorText(error)} />
    )
  return (
    <section className="zs-card ed-pull" aria-label={t('pull.of', { image: pull.image })}>
      <Alert
        type={pull.status === 'running' ? 'info' : pull.status === 'succeeded' ? 'success' : 'error'}
        showIcon
        title={t(`pull.${pull.status}`, { image: pull.image })}
        {...(pull.error !== null && { description: pull.error })}
        {...(pull.status !== 'running' && { closable: { onClose } })}
      />
      {pull.status !== 'succeeded' && (
        <>
          <Progress percent={pullPercent(pull)} status={pull.status === 'failed' ? 'exception' : 'active'} aria-label={t('pull.of', { image: pull.image })} />
          <Layers layers={pull.layers} />
        </>
      )}
      {pull.status === 'running' && <p className="zs-soft">{t('pull.note')}</p>}
    </section>
  )
}

function Layers({ layers }: { readonly layers: Pull['layers'] }) {
  const { t } = useTranslation('edge')
  if (layers.length === 0) return <p className="zs-soft">{t('pull.asking')}</p>
  return (
    <ul className="ed-layers">
      {layers.map((layer) => {
        const state = layerState(layer)
        return (
          <li key={layer.id}>
            <span className="zs-code">{layer.id}</span>
            <Progress percent={Math.floor(layerPercent(layer))} size="small" showInfo={false} aria-label={layer.id} />
            <span>{state === null ? layer.status : t(`pull.layer.${state}`)}</span>
            <span className="zs-number zs-soft">
              {layer.total_bytes === null || layer.total_bytes === 0
                ? ''
                : t('pull.bytes', { done: format.bytes(Math.min(layer.current_bytes, layer.total_bytes)), total: format.bytes(layer.total_bytes) })}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
