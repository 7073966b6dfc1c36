import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { modelImports, type ModelImport } from '@zhisuan/contract/models/import'
import { modelFiles, modelRevisions, models } from '@zhisuan/contract/models/model'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import * as format from '../../kit/format.ts'
import './models.css'

const goesOn = (one: ModelImport | undefined): boolean => one?.status === 'waiting' || one?.status === 'running'

/** How far the last import into a model is, or why it failed; nothing once it is done. */
export function ImportLine({ modelId }: { readonly modelId: string }) {
  const { t } = useTranslation('models')
  const client = useQueryClient()
  const { data } = useCall(modelImports.list, { params: { id: modelId } }, { silent: true, refreshMs: (list) => (goesOn(list?.items[0]) ? 1_500 : 30_000) })
  const cancel = useChange(modelImports.cancel, { invalidates: [modelImports.list] })
  const last = data?.items[0]
  const done = last?.status === 'done' ? last.id : null
  useEffect(() => {
    // What it brought shows by itself.
    if (done !== null) for (const { id } of [models.get, modelFiles.list, modelRevisions.list]) void client.invalidateQueries({ queryKey: [id] })
  }, [client, done])
  if (last === undefined) return null
  if (last.status === 'failed')
    return <Alert className="zs-above" type="warning" showIcon title={t('import.failed', { from: last.repository, reason: last.error ?? '' })} />
  if (!goesOn(last)) return null
  const { total_bytes: total, done_bytes: bytes, done_files: files, total_files: all } = last
  return (
    <section className="zs-card md-import" aria-label={t('import.running', { from: last.repository })}>
      <span>{t('import.running', { from: last.repository })}</span>
      <Progress
        percent={total === null || total === 0 ? 0 : (bytes / total) * 100}
        size="small"
        showInfo={false}
        aria-label={t('import.running', { from: last.repository })}
      />
      <span className="zs-soft zs-number">
        {total === null || all === null ? t('import.looking') : t('import.progress', { bytes: format.bytes(bytes), total: format.bytes(total), files, all })}
      </span>
      <Button size="small" loading={cancel.isPending} onClick={() => cancel.mutate({ params: { id: modelId, import_id: last.id } })}>
        {t('import.cancel')}
      </Button>
    </section>
  )
}
