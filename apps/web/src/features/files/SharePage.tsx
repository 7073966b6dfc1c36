import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { fileShares } from '@zhisuan/contract/files/file'
import { useState } from 'react'
import { useParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { useChange, useOne } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { saveFrom } from '../../kit/save.ts'
import './files.css'

/** What a link shares, for whoever has it. */
export default function SharePage() {
  const { t } = useTranslation('files')
  const { token = '' } = useParams()
  const [password, setPassword] = useState('')
  const [refused, setRefused] = useState<string | null>(null)
  const { data, error, refetch } = useOne(fileShares.look, { params: { token } })
  const open = useChange(fileShares.open, { silent: true })
  if (error?.status === 404)
    return (
      <div className="fl-shared">
        <h1 id="page-title" tabIndex={-1}>
          {t('shared.title')}
        </h1>
        <EmptyState title={t('shared.gone')}>{t('shared.goneNote')}</EmptyState>
      </div>
    )
  if (data === undefined)
    return <div className="fl-shared">{error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}</div>
  const download = async (): Promise<void> => {
    setRefused(null)
    try {
      saveFrom((await open.mutateAsync({ params: { token }, body: { password: password === '' ? null : password } })).path)
      void refetch()
    } catch (thrown) {
      setRefused(errorText(toApiError(thrown)))
    }
  }
  const { of } = data
  const out = of?.downloads_left === 0
  return (
    <form
      noValidate
      className="fl-shared zs-card"
      onSubmit={(event) => {
        event.preventDefault()
        void download()
      }}
    >
      <h1 id="page-title" tabIndex={-1}>
        {of?.name ?? t('shared.title')}
      </h1>
      <p className="zs-soft">
        {of === null
          ? t('shared.closed')
          : [
              t('shared.by', { who: of.shared_by }),
              of.kind === 'folder' ? t('shared.folder') : format.bytes(of.size_bytes),
              of.ends_at === null ? t('share.always') : t('share.until', { when: format.dateTime(of.ends_at) }),
              ...(of.downloads_left === null ? [] : [t('share.left', { count: of.downloads_left })]),
            ].join(' · ')}
      </p>
      {refused !== null && <Alert className="zs-above" type="error" showIcon title={refused} />}
      {data.needs_password && (
        <label className="fl-password">
          {t('share.password')}
          <Input.Password value={password} autoComplete="off" onChange={({ target }) => setPassword(target.value)} />
        </label>
      )}
      <Button type="primary" size="large" htmlType="submit" loading={open.isPending} disabled={out || (data.needs_password && password === '')}>
        {t(out ? 'shared.out' : of?.kind === 'folder' ? 'shared.downloadZip' : 'action.download')}
      </Button>
    </form>
  )
}
