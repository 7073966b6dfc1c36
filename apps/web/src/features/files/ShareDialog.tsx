import { fileShares, type FileEntry, type FileShare } from '@zhisuan/contract/files/file'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { MomentInput } from '../../kit/dates.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { paths } from '../../paths.ts'
import './files.css'

interface Values {
  password: string
  ends_at: string
  downloads: number | null
}
const { shape } = fileShares.create.body

/** Shares something by a link, and shows the links that lead to it already. It stays open: the link is what one came for. */
export default function ShareDialog({ entry, onClose }: Dialog<{ entry: FileEntry }>) {
  const { t } = useTranslation('files')
  const [form] = Form.useForm<Values>()
  const { data } = useCall(fileShares.list, { query: { entry_id: entry.id, page_size: 100 } }, { silent: true })
  const create = useChange(fileShares.create, { invalidates: [fileShares.list], silent: true })
  const end = useChange(fileShares.delete, { invalidates: [fileShares.list] })
  return (
    <FormDialog<Values, FileShare>
      form={form}
      title={t('share.title', { name: entry.name })}
      okText={t('share.create')}
      initialValues={{ password: '', ends_at: '', downloads: null }}
      // Nothing is closed: what was made shows above.
      onClose={onClose}
      keepOpen
      doneText={t('share.made')}
      onSubmit={async ({ password, ends_at, downloads }) => {
        const share = await create.mutateAsync({
          body: { entry_id: entry.id, password: password === '' ? null : password, ends_at: ends_at === '' ? null : ends_at, downloads: downloads ?? null },
        })
        form.resetFields()
        return share
      }}
    >
      {data !== undefined && data.items.length > 0 && (
        <ul className="fl-shares" aria-label={t('share.there')}>
          {data.items.map((share) => (
            <li key={share.id}>
              {share.token === null ? (
                <span className="zs-soft">{t('share.unreadable')}</span>
              ) : (
                <CopyCode text={`${location.origin}${paths.share(share.token)}`} />
              )}
              <span className="zs-soft">
                {[
                  t(share.has_password ? 'share.withPassword' : 'share.withoutPassword'),
                  share.ends_at === null ? t('share.always') : t('share.until', { when: format.dateTime(share.ends_at) }),
                  share.downloads_left === null ? t('share.count', { count: share.download_count }) : t('share.left', { count: share.downloads_left }),
                ].join(' · ')}
              </span>
              <Button size="small" danger loading={end.isPending} onClick={() => end.mutate({ params: { id: share.id } })}>
                {t('share.end')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <p className="zs-soft">{t('share.note')}</p>
      <TextField name="password" label={t('share.password')} extra={t('share.passwordNote')} autoComplete="off" />
      <Field name="ends_at" label={t('share.ends')} extra={t('share.endsNote')}>
        <MomentInput />
      </Field>
      <NumberField name="downloads" label={t('share.downloads')} extra={t('share.downloadsNote')} schema={shape.downloads} required={false} />
    </FormDialog>
  )
}
