import Radio from 'antd/es/radio'
import { edgeImages } from '@zhisuan/contract/ecrm/edge'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { useCall, useChange } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import './edge.css'
import { namesOf, shortId } from './pullRules.ts'
import '../../kit/batch.css'

/** Shows which images nothing uses, and removes them. */
export function PruneDialog({ edgeId, onClose }: Dialog<{ edgeId: string }>) {
  const { t } = useTranslation('edge')
  const [all, setAll] = useState(false)
  const params = { id: edgeId }
  const preview = useCall(edgeImages.prune, { params, body: { preview: true, all } }, { silent: true })
  const prune = useChange(edgeImages.prune, { invalidates: [edgeImages.images, edgeImages.prune] })
  // What is shown while the other choice is asked for belongs to the former.
  const shown = preview.isPlaceholderData ? undefined : preview.data
  const items = shown?.items ?? []
  return (
    <FormDialog<object, ResponseOf<typeof edgeImages.prune>>
      title={t('prune.title')}
      okText={t('prune.ok')}
      danger
      okDisabled={items.length === 0}
      width={640}
      initialValues={{}}
      doneText={(done) => t('prune.done', { count: done.items.length, size: format.bytes(done.freed_bytes) })}
      onClose={onClose}
      onSubmit={() => prune.mutateAsync({ params, body: { preview: false, all } })}
    >
      <Radio.Group
        className="ed-choice"
        aria-label={t('prune.title')}
        value={all}
        onChange={(event) => setAll(event.target.value === true)}
        options={[
          { value: false, label: t('prune.dangling') },
          { value: true, label: t('prune.all') },
        ]}
      />
      <div aria-live="polite" aria-busy={shown === undefined && preview.error === null}>
        {preview.error !== null ? (
          <ErrorPanel error={preview.error} onRetry={() => void preview.refetch()} />
        ) : shown === undefined ? (
          <p>{t('prune.looking')}</p>
        ) : items.length === 0 ? (
          <p>{t('prune.none')}</p>
        ) : (
          <>
            <p>{t('prune.preview', { count: items.length, size: format.bytes(shown.freed_bytes) })}</p>
            <ul className="zs-batch-list">
              {items.map((image) => (
                <li key={image.id}>
                  <span className="zs-cut">{image.tags.length === 0 ? shortId(image.id) : namesOf(image).join('、')}</span>
                  <span className="zs-number zs-soft">{format.bytes(image.size_bytes)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </FormDialog>
  )
}
