import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { edgeImages, edges } from '@zhisuan/contract/ecrm/edge'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useParams, useSearchParams } from 'react-router'
import { Field } from '../../kit/fields.tsx'
import { Gone } from '../../kit/Gone.tsx'
import { toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { ActionButton, type Action } from '../../kit/actions.tsx'
import { clearable } from '../../kit/clearable.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import './edge.css'
import { ImageTable, type EdgeImage } from './ImageTable.tsx'
import { PruneDialog } from './PruneDialog.tsx'
import { PullProgress } from './PullProgress.tsx'
import { namesOf } from './pullRules.ts'
import { nodeGone } from './edgeRules.ts'
import '../../kit/table.css'

/** The container images on one node. The pull that is looked at stands in the address, so that a reload shows it. */
export default function NodeImages() {
  const { t } = useTranslation('edge')
  const { id = '' } = useParams()
  const [search, setSearch] = useSearchParams()
  const [keyword, setKeyword] = useState('')
  const { data: edge, error } = useCall(edges.get, { params: { id } }, { silent: true, refreshMs: 5_000 })
  const remove = useChange(edgeImages.removeImage, { invalidates: [edgeImages.images] })
  usePageTitle(edge === undefined ? null : t('image.title', { name: edge.name }))
  const online = edge?.status === 'online'
  const pull = search.get('pull')
  const look = (pullId: string | null): void => setSearch(pullId === null ? {} : { pull: pullId }, { replace: true })
  if (error?.status === 404) return <Gone {...nodeGone(t)} />
  const actionsOf = (image: EdgeImage): readonly Action[] => [
    {
      key: 'remove',
      call: edgeImages.removeImage,
      label: t('image.remove'),
      danger: true,
      disabledReason: image.used_by.length > 0 ? t('image.inUse', { names: image.used_by.join('、') }) : null,
      confirm: { title: t('image.removeTitle', { name: namesOf(image)[0] ?? image.id }), body: t('image.removeBody', { names: namesOf(image).join('、') }) },
      doneText: t('image.removed'),
      // Docker lets go of the image itself with its last name.
      run: async () => {
        for (const one of namesOf(image)) await remove.mutateAsync({ params: { id }, query: { image: one } })
      },
    },
  ]
  return (
    <>
      <div className="zs-card">
        <PullForm id={id} off={!online} onBegun={look} />
      </div>
      {pull !== null && <PullProgress key={pull} edgeId={id} pullId={pull} onClose={() => look(null)} />}
      <div className="zs-card">
        <div className="zs-toolbar">
          <div className="zs-buttons">
            <ActionButton
              look="default"
              disabled={!online}
              action={{ key: 'prune', call: edgeImages.prune, label: t('prune.open'), dialog: (close) => <PruneDialog edgeId={id} onClose={close} /> }}
            />
          </div>
          <div className="zs-buttons zs-toolbar-end">
            <Input.Search
              className="zs-filter-keyword"
              allowClear={clearable}
              aria-label={t('image.keyword')}
              placeholder={t('image.keyword')}
              onSearch={(text) => setKeyword(text.trim())}
            />
          </div>
        </div>
        {edge !== undefined && <ImageTable edge={edge} keyword={keyword} actionsOf={actionsOf} />}
      </div>
    </>
  )
}

function PullForm({ id, off, onBegun }: { readonly id: string; readonly off: boolean; readonly onBegun: (pullId: string) => void }) {
  const { t } = useTranslation('edge')
  const [form] = Form.useForm<{ image: string }>()
  const begin = useChange(edgeImages.pullImage, { silent: true })
  const submit = async ({ image }: { image: string }): Promise<void> => {
    try {
      const { pull_id } = await begin.mutateAsync({ params: { id }, body: { image: image.trim() } })
      form.resetFields()
      onBegun(pull_id)
    } catch (thrown) {
      const error = toApiError(thrown)
      form.setFields([{ name: 'image', errors: error.fields.length > 0 ? error.fields.map(({ message }) => message) : [errorText(error)] }])
    }
  }
  return (
    <Form noValidate form={form} layout="inline" className="ed-pull-form" onFinish={(values) => void submit(values)} disabled={off}>
      <Field name="image" label={t('pull.image')} schema={edgeImages.pullImage.body.shape.image}>
        <Input className="zs-code ed-image-name" placeholder="nginx:1.27" autoComplete="off" spellCheck={false} />
      </Field>
      <Button type="primary" htmlType="submit" loading={begin.isPending}>
        {t('pull.ok')}
      </Button>
    </Form>
  )
}
