import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Table from 'antd/es/table'
import { computeImages, computeImageTransitional, type ComputeImageDetail } from '@zhisuan/contract/compute/image'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useOne, useChange } from '../../../api/hooks.ts'
import { ConfirmDialog } from '../../../kit/ConfirmDialog.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import './image.css'
import { sourceOf, invalidatedByImage } from './imageRules.ts'
import { ImageState } from './ImageState.tsx'
import { UploadProgress } from './UploadProgress.tsx'
import { useImageActions } from './useImageActions.tsx'

/** One image, or one that was made from an instance: what it is, whom it is offered to, and what its file waits for. */
export default function ImageDetail() {
  const { t } = useTranslation('computeImage')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const cloud = useComputeCloud()
  const cloudId = cloud?.cloud_id ?? ''
  const [deleted, setDeleted] = useState(false)
  const query = useOne(computeImages.get, { params: { cloud_id: cloudId, id } }, { enabled: cloud !== null && !deleted, refreshMs: 5_000 })
  const snapshot = query.data?.snapshot === true
  const openDialog = useDialog()
  const { actionsOf, opening } = useImageActions(cloudId, () => {
    setDeleted(true)
    void navigate((snapshot ? paths.compute.instanceSnapshot : paths.compute.image).list())
  })
  const code = (text: string | null) => (text === null ? format.nothing : <span className="zs-code cim-file">{text}</span>)
  return (
    <ComputePage>
      {() => (
        <>
          <DetailPage
            query={query}
            gone={{ to: paths.compute.image.list() }}
            title={(image) => (image.name === '' ? image.id : image.name)}
            status={(image) => <ImageState image={image} />}
            actions={actionsOf}
            notice={(image) => (
              <>
                {image.offer === 'pending' && <Alert className="zs-above" type="info" showIcon title={t('offerPending')} description={t('offerPendingNote')} />}
                {!computeImageTransitional.includes(image.status) && (
                  <UploadProgress image={image} cloudId={cloudId} onImport={() => openDialog(opening('import', image))} />
                )}
              </>
            )}
            facts={(image) => [
              { key: 'id', label: t('column.id'), value: code(image.id) },
              { key: 'source', label: t('column.source'), value: t(`source.${sourceOf(image)}`) },
              { key: 'visibility', label: t('column.visibility'), value: t(`visibility.${image.visibility}`) },
              { key: 'format', label: t('column.format'), value: image.disk_format?.toUpperCase() ?? format.nothing },
              { key: 'size', label: t('column.size'), value: format.bytes(image.size_bytes) },
              { key: 'virtual', label: t('column.virtualSize'), value: format.bytes(image.virtual_size_bytes) },
              { key: 'minDisk', label: t('field.minDisk'), value: image.min_disk_bytes === 0 ? t('field.unlimited') : format.bytes(image.min_disk_bytes) },
              {
                key: 'minMemory',
                label: t('field.minMemory'),
                value: image.min_memory_bytes === 0 ? t('field.unlimited') : format.bytes(image.min_memory_bytes),
              },
              {
                key: 'osType',
                label: t('field.osType'),
                value: image.os_type === 'linux' || image.os_type === 'windows' ? t(`osType.${image.os_type}`) : (image.os_type ?? format.nothing),
              },
              { key: 'distribution', label: t('column.distribution'), value: image.distribution ?? format.nothing },
              { key: 'protected', label: t('field.protected'), value: t(image.protected ? 'yes' : 'no') },
              ...(image.instance_id === null
                ? []
                : [
                    {
                      key: 'instance',
                      label: t('column.instance'),
                      value: (
                        <Link to={paths.compute.instance.detail(image.instance_id)} className="zs-text-link">
                          {image.instance_id}
                        </Link>
                      ),
                    },
                  ]),
              { key: 'created', label: t('column.created'), value: format.dateTime(image.created_at) },
              { key: 'updated', label: t('column.updated'), value: format.dateTime(image.updated_at) },
              ...(image.tags.length === 0 ? [] : [{ key: 'tags', label: t('column.tags'), value: image.tags.join('、') }]),
              { key: 'digest', label: t('column.digest'), value: code(image.digest) },
            ]}
          >
            {(image) =>
              image.mine && image.visibility === 'shared' && <Members image={image} cloudId={cloudId} onOffer={() => openDialog(opening('offer', image))} />
            }
          </DetailPage>
        </>
      )}
    </ComputePage>
  )
}

const memberTones = { pending: 'busy', accepted: 'good', rejected: 'rest' } as const

/** Whom it is offered to, and what they said. */
function Members({ image, cloudId, onOffer }: { readonly image: ComputeImageDetail; readonly cloudId: string; readonly onOffer: () => void }) {
  const { t } = useTranslation(['computeImage', 'kit'])
  const [asking, setAsking] = useState<ComputeImageDetail['members'][number] | null>(null)
  const withdraw = useChange(computeImages.withdraw, { invalidates: invalidatedByImage })
  return (
    <section className="zs-card">
      <div className="zs-line">
        <h2 className="zs-heading">{t('members.title')}</h2>
        <Button onClick={onOffer}>{t('action.offer')}</Button>
      </div>
      <Table
        size="small"
        rowKey="id"
        pagination={image.members.length > 20 ? { pageSize: 20 } : false}
        dataSource={image.members}
        locale={{ emptyText: t('members.empty') }}
        columns={[
          { key: 'name', title: t('members.name'), render: (_, member) => member.name ?? <span className="zs-code">{member.keystone_project_id}</span> },
          {
            key: 'status',
            title: t('column.status'),
            width: 120,
            render: (_, member) => <StatusTag tone={memberTones[member.status]}>{t(`members.${member.status}`)}</StatusTag>,
          },
          { key: 'updated', title: t('column.updated'), width: 180, render: (_, member) => format.dateTime(member.updated_at) },
          {
            key: 'withdraw',
            title: t('kit:table.actions'),
            width: 100,
            render: (_, member) => (
              <Button type="link" size="small" onClick={() => setAsking(member)}>
                {t('members.withdraw')}
              </Button>
            ),
          },
        ]}
      />
      {asking !== null && (
        <ConfirmDialog
          confirmation={{ title: t('members.withdrawTitle', { name: asking.name ?? asking.keystone_project_id ?? '' }), body: t('members.withdrawNote') }}
          danger
          okText={t('members.withdraw')}
          onCancel={() => setAsking(null)}
          onConfirm={async () => {
            try {
              await withdraw.mutateAsync({ params: { cloud_id: cloudId, id: image.id, member_id: asking.id } })
              setAsking(null)
            } catch {
              // Said already; the question stays.
            }
          }}
        />
      )}
    </section>
  )
}
