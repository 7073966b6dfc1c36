import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { useQueryClient } from '@tanstack/react-query'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { imageLibrary, type Image } from '@zhisuan/contract/nextstack/image'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { LeaveDialog } from '../../../kit/LeaveDialog.tsx'
import { toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { showFieldErrors } from '../../../kit/rules.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { AboutFields } from './AboutFields.tsx'
import { checksumOf } from './checksum.ts'
import { ChecksumProgress } from './ChecksumProgress.tsx'
import { aboutBody, aboutNothing, type AboutValues } from './imageForm.ts'
import { nameOfFile, pathsOf, invalidatedByImage } from './imageRules.ts'
import { startUpload } from '../../../kit/uploads.ts'
import { FileFields, ImagePrice, UrlFields, VmFields } from './ImageSourceFields.tsx'
import './image.css'
import '../../../kit/form.css'

const ways = ['upload', 'url', 'vm'] as const

export interface ImageValues extends AboutValues {
  way: (typeof ways)[number]
  type: Image['type']
  file: File | null
  checked: boolean
  url: string
  sha256: string
  vm_id?: string
  snapshot_id: string
}

/** Makes an image: of a file, of what is behind an address, or of an instance. */
export function ImageDrawer({
  cloud,
  visibility,
  onClose,
}: {
  readonly cloud: CloudBasic
  readonly visibility: Image['visibility']
  readonly onClose: () => void
}) {
  const { t } = useTranslation('image')
  const { t: kit } = useTranslation('kit')
  const navigate = useNavigate()
  const client = useQueryClient()
  const platform = useIsPlatform()
  const [form] = Form.useForm<ImageValues>()
  const [dirty, setDirty] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  /** 0 to 1 while the file's checksum is being made. */
  const [hashed, setHashed] = useState<number | null>(null)
  const hashing = useRef<AbortController | null>(null)
  useEffect(() => () => hashing.current?.abort(), [])
  const way = Form.useWatch('way', form) ?? 'upload'
  const announce = useChange(imageLibrary.upload, { invalidates: invalidatedByImage, silent: true })
  const fetchIt = useChange(imageLibrary.fetch, { invalidates: invalidatedByImage, silent: true })
  const fromVm = useChange(imageLibrary.fromVm, { invalidates: invalidatedByImage, silent: true })
  const close = (): void => (dirty ? setLeaving(true) : onClose())

  /** Undefined where the person would rather not wait for it. @throws where the drawer was left */
  const checksum = async (file: File): Promise<string | undefined> => {
    const controller = new AbortController()
    hashing.current = controller
    setHashed(0)
    try {
      return await checksumOf(file, controller.signal, setHashed)
    } catch (error) {
      if (controller.signal.reason === skipped) return undefined
      throw error
    } finally {
      setHashed(null)
    }
  }
  const create = async (values: ImageValues): Promise<Image> => {
    const about = { ...aboutBody(values), visibility }
    const fresh = { ...about, cloud_id: cloud.cloud_id, type: values.type }
    if (values.way === 'url') return fetchIt.mutateAsync({ body: { ...fresh, url: values.url, ...(values.sha256.trim() !== '' && { sha256: values.sha256 }) } })
    if (values.way === 'vm')
      return fromVm.mutateAsync({ body: { ...about, vm_id: values.vm_id ?? '', snapshot_id: values.snapshot_id === '' ? null : values.snapshot_id } })
    // The form has it checked.
    const file = values.file ?? new File([], '')
    const sha256 = values.checked ? await checksum(file) : undefined
    const { image, upload_path } = await announce.mutateAsync({ body: { ...fresh, size_bytes: file.size, ...(sha256 !== undefined && { sha256 }) } })
    await startUpload(image.id, upload_path, file, () => invalidatedByImage.forEach(({ id }) => void client.invalidateQueries({ queryKey: [id] })))
    return image
  }
  const submit = async (values: ImageValues): Promise<void> => {
    setBusy(true)
    setRefused(null)
    try {
      const image = await create(values)
      notify('success', t(`done.${values.way}`, { name: image.name }))
      onClose()
      void navigate(pathsOf(image, platform).detail(image.id))
    } catch (thrown) {
      if (hashing.current?.signal.aborted === true) return
      const error = toApiError(thrown)
      const unplaced = showFieldErrors(form, error.fields)
      if (unplaced.length > 0 || error.fields.length === 0) setRefused([...new Set([errorText(error), ...unplaced.map(({ message }) => message)])].join('；'))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Drawer
      open
      size={640}
      title={t(`create.title.${visibility}`)}
      mask={{ closable: !dirty }}
      onClose={close}
      footer={
        <div className="zs-form-foot">
          <Button type="primary" loading={busy} onClick={form.submit}>
            {t(`create.submit.${way}`)}
          </Button>
          <Button onClick={close}>{kit('form.cancel')}</Button>
        </div>
      }
    >
      <Form<ImageValues>
        noValidate
        form={form}
        layout="vertical"
        disabled={busy}
        initialValues={{ ...aboutNothing, way: 'upload', type: 'container', file: null, checked: true, url: '', sha256: '', snapshot_id: '' }}
        onValuesChange={(changed: Partial<ImageValues>) => {
          setDirty(true)
          // What the person has typed stays.
          if (changed.file != null && !form.isFieldTouched('name')) form.setFieldsValue({ name: nameOfFile(changed.file.name) })
        }}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        <Form.Item name="way" className="im-ways" label={t('create.way')}>
          <Radio.Group optionType="button" options={ways.map((value) => ({ value, label: t(`way.${value}`) }))} />
        </Form.Item>
        <Alert className="zs-above" type="info" showIcon title={t(`wayNote.${way}`)} />
        {way === 'upload' && <FileFields />}
        {way === 'url' && <UrlFields />}
        {way === 'vm' && <VmFields cloudId={cloud.cloud_id} />}
        <AboutFields />
        {visibility === 'private' && <ImagePrice way={way} />}
        {refused !== null && <Alert type="error" showIcon role="alert" title={t('create.refused', { reason: refused })} />}
      </Form>
      {hashed !== null && <ChecksumProgress share={hashed} onSkip={() => hashing.current?.abort(skipped)} />}
      <LeaveDialog
        open={leaving}
        onLeave={() => {
          hashing.current?.abort()
          onClose()
        }}
        onStay={() => setLeaving(false)}
      />
    </Drawer>
  )
}

const skipped = new Error('skipped')
