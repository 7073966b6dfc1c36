import InboxOutlined from '@ant-design/icons/es/icons/InboxOutlined'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import Upload from 'antd/es/upload'
import { useQueryClient } from '@tanstack/react-query'
import { computeDiskFormats, computeImages } from '@zhisuan/contract/compute/image'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { Field, type Controlled } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormPage } from '../../../kit/FormPage.tsx'
import { paths } from '../../../paths.ts'
import { ComputePage } from '../ComputePage.tsx'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { refusing } from '../../../kit/rules.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { AboutFields } from './AboutFields.tsx'
import './image.css'
import { aboutBody, freshAbout, type AboutValues } from './imageForm.ts'
import { invalidatedByImage } from './imageRules.ts'
import { startUpload } from './uploads.ts'

interface Values extends AboutValues {
  way: 'file' | 'address'
  project_id?: string
  file: File | null
  url: string
  disk_format: (typeof computeDiskFormats)[number]
}

/** Brings an image to the chosen cloud: a file, which then goes on its way, or an address that the cloud fetches from. */
export default function ImageAdd() {
  return <ComputePage>{(cloud) => <AddForm cloudId={cloud?.cloud_id ?? null} />}</ComputePage>
}

function AddForm({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeImage')
  const navigate = useNavigate()
  const client = useQueryClient()
  const [form] = Form.useForm<Values>()
  const way = Form.useWatch('way', form) ?? 'file'
  const file = Form.useWatch('file', form)
  const params = { cloud_id: cloudId ?? '' }
  const ways = useCall(computeImages.importWays, { params }, { silent: true, enabled: cloudId !== null })
  const create = useChange(computeImages.create, { invalidates: invalidatedByImage })
  const fetching = useChange(computeImages.import, { invalidates: invalidatedByImage })

  const submit = async (values: Values): Promise<void> => {
    const { image } = await create.mutateAsync({
      params,
      body: { ...aboutBody(values), disk_format: values.disk_format, project_id: values.project_id ?? null },
    })
    const { cloud_id } = params
    if (values.way === 'file' && values.file !== null) {
      startUpload({ cloudId: cloud_id, imageId: image.id }, values.file, () => {
        for (const { id } of invalidatedByImage) void client.invalidateQueries({ queryKey: [id] })
      })
    } else {
      // What is wrong with the address is said on the image's page, where another can be given.
      await fetching
        .mutateAsync({ params: { cloud_id, id: image.id }, body: { url: values.url } })
        .catch((error: unknown) => notify('error', error instanceof Error ? error.message : String(error), 5_000))
    }
    void navigate(paths.compute.image.detail(image.id))
  }

  return (
    <FormPage<Values>
      form={form}
      initialValues={{ ...freshAbout, way: 'file', file: null, url: '', disk_format: 'qcow2' }}
      submitText={t('add.submit')}
      onCancel={() => void navigate(paths.compute.image.list())}
      onSubmit={submit}
    >
      <div className="zs-card">
        <Form.Item name="way" label={t('field.way')} {...(ways.data?.address === false && { extra: t('field.noAddress') })}>
          <Radio.Group
            options={[
              { value: 'file', label: t('way.file') },
              { value: 'address', label: t('way.address'), disabled: ways.data?.address !== true },
            ]}
          />
        </Form.Item>
        {way === 'file' ? (
          <Form.Item
            name="file"
            label={t('field.file')}
            required
            rules={[refusing((file: File | null) => (file === null ? t('field.fileRequired') : file.size === 0 && t('field.fileEmpty')))]}
          >
            <FileInput
              onName={(name) => {
                const known = computeDiskFormats.find((one) => name.toLowerCase().endsWith(`.${one}`))
                if (known !== undefined) form.setFieldValue('disk_format', known)
              }}
            />
          </Form.Item>
        ) : (
          <Field name="url" label={t('field.url')} extra={t('field.urlNote')} validateTrigger="onBlur" schema={computeImages.import.body.shape.url}>
            <Input inputMode="url" placeholder="https://" />
          </Field>
        )}
        <Form.Item name="disk_format" label={t('column.format')} extra={t('field.formatNote')}>
          <Select options={computeDiskFormats.map((value) => ({ value, label: value.toUpperCase() }))} />
        </Form.Item>
        <ProjectField />
        <AboutFields />
        {/* By its file, whose size is known beforehand only where it comes from here. */}
        <StoragePrice meter="image.size" bytes={way === 'file' ? (file?.size ?? null) : null} exact={way === 'file'} />
      </div>
    </FormPage>
  )
}

function FileInput({ id, value, onChange, onName }: Controlled<File | null, { onName: (name: string) => void }>) {
  const { t } = useTranslation('computeImage')
  return (
    <Upload.Dragger
      {...(id !== undefined && { id })}
      showUploadList={false}
      beforeUpload={(file) => {
        onChange?.(file)
        onName(file.name)
        return false
      }}
    >
      <InboxOutlined aria-hidden style={{ fontSize: 28 }} />
      {value === null || value === undefined ? (
        <div>{t('field.fileDrop')}</div>
      ) : (
        <div className="cim-file">{t('field.fileChosen', { name: value.name, size: format.bytes(value.size) })}</div>
      )}
    </Upload.Dragger>
  )
}
