import Alert from 'antd/es/alert'
import Typography from 'antd/es/typography'
import { imageLibrary, type Image } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from '../../../i18n.ts'
import { useLocation, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import { isPassing } from './imageRules.ts'
import { ImageState } from './ImageState.tsx'
import { UploadProgress } from './UploadProgress.tsx'
import { useImageActions } from './useImageActions.tsx'
import './image.css'

/** One image: what it is, what it needs, who may use it, and how far it is on its way. */
export default function ImageDetail() {
  const { t } = useTranslation('image')
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const { id = '' } = useParams()
  const list = useLocation().pathname.startsWith(paths.nextstack.publicImage.list()) ? paths.nextstack.publicImage.list() : paths.nextstack.privateImage.list()
  const query = useOne(imageLibrary.get, { params: { id } }, { refreshMs: (image) => whilePassing(image, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useImageActions(cloud, () => void navigate(list))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('gone'), note: t('goneNote'), to: list, back: t('back') }}
      title={(image) => image.name}
      status={(image) => (
        <>
          <ImageState image={image} />
          <SandboxTag cloud={cloud} />
        </>
      )}
      // It is open already.
      actions={(image) => actionsOf(image).filter(({ key }) => key !== 'open')}
      notice={(image) => (
        <>
          <CloudNotice cloud={cloud} />
          <Trouble image={image} />
          <UploadProgress image={image} />
        </>
      )}
      facts={(image) => [
        { key: 'os', label: t('column.os'), value: [image.os, image.release].filter((part) => part !== null).join(' ') || format.nothing },
        { key: 'type', label: t('column.type'), value: t(`type.${image.type}`) },
        { key: 'architecture', label: t('column.architecture'), value: image.architecture ?? format.nothing },
        { key: 'size', label: t('column.size'), value: format.bytes(image.size_bytes) },
        { key: 'cloudInit', label: t('column.cloudInit'), value: t(image.cloud_init ? 'yes' : 'no') },
        { key: 'minimum', label: t('column.minimum'), value: <Minimum image={image} /> },
        { key: 'visibility', label: t('column.visibility'), value: t(`visibility.${image.visibility}`) },
        ...(image.mine && image.visibility === 'private'
          ? [
              {
                key: 'shared',
                label: t('column.shared'),
                value: image.shared_with.length === 0 ? t('shared.none') : image.shared_with.map(({ name }) => name).join('、'),
              },
            ]
          : []),
        { key: 'source', label: t('column.source'), value: t(`source.${image.source}`) },
        { key: 'vms', label: t('column.vms'), value: format.number(image.vm_count) },
        { key: 'cloud', label: t('column.cloud'), value: cloud?.name ?? format.nothing },
        ...(platform ? [{ key: 'bp', label: t('column.organisation'), value: image.bp_name ?? format.nothing }] : []),
        ...(image.created_by === '' ? [] : [{ key: 'creator', label: t('column.creator'), value: image.created_by }]),
        { key: 'created', label: t('column.created'), value: format.dateTime(image.created_at) },
        { key: 'fingerprint', label: t('column.fingerprint'), value: image.fingerprint === null ? format.nothing : <Code text={image.fingerprint} /> },
        { key: 'id', label: t('column.id'), value: <Code text={image.id} /> },
        { key: 'description', label: t('column.description'), value: image.description === '' ? format.nothing : image.description },
      ]}
    />
  )
}

const Code = ({ text }: { readonly text: string }) => (
  <Typography.Text className="zs-code im-file" copyable={{ text, tooltips: false }}>
    {text}
  </Typography.Text>
)

function Minimum({ image: { min_cpu_cores, min_memory_bytes, min_disk_bytes } }: { readonly image: Image }) {
  const { t } = useTranslation('image')
  const parts = [
    ...(min_cpu_cores > 0 ? [t('minimum.cpu', { count: min_cpu_cores })] : []),
    ...(min_memory_bytes > 0 ? [t('minimum.memory', { size: format.bytes(min_memory_bytes) })] : []),
    ...(min_disk_bytes > 0 ? [t('minimum.disk', { size: format.bytes(min_disk_bytes) })] : []),
  ]
  return parts.length === 0 ? t('minimum.none') : parts.join('，')
}

/** What went wrong last, in full: the tag beside the title only hints at it. */
function Trouble({ image }: { readonly image: Image }) {
  const { t } = useTranslation('image')
  if (image.status === 'lost') return <Alert className="zs-above" type="error" showIcon title={t('status.lost')} description={t('lostReason')} />
  if (image.error === null) return null
  return <Alert className="zs-above" type={image.status === 'error' ? 'error' : 'warning'} showIcon title={t('failed')} description={image.error} />
}
