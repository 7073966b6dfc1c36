import { databaseServices, type DatabaseService } from '@zhisuan/contract/middleware/service'
import type { ResponseOf } from '@zhisuan/contract/define'
import Descriptions from 'antd/es/descriptions'
import { useState } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

/** Shows the password of a database or a cache to whoever proves who they are. */
export default function ServiceCredential({ service, onClose }: Dialog<{ service: DatabaseService }>) {
  const { t } = useTranslation('middleware')
  const ask = useChange(databaseServices.credential, { invalidates: [], silent: true })
  const { asking, passwordField } = useAskedPassword()
  const [shown, setShown] = useState<ResponseOf<typeof databaseServices.credential> | null>(null)
  const { id, name } = service
  return (
    <FormDialog<{ password?: string }>
      title={t('service.credentialTitle', { name })}
      okText={t(shown === null ? 'service.credentialShow' : 'service.credentialDone')}
      initialValues={{}}
      keepOpen={shown === null}
      onClose={onClose}
      onSubmit={async ({ password }) => {
        if (shown !== null) return
        setShown(await asking(() => ask.mutateAsync({ params: { id }, body: { ...(password !== undefined && { password }) } })))
      }}
    >
      {shown === null ? (
        <>
          <p className="zs-soft">{t('service.credentialNote')}</p>
          {passwordField}
        </>
      ) : (
        <Descriptions
          size="small"
          column={1}
          items={[
            { key: 'username', label: t('service.username'), children: <CopyCode text={shown.username} /> },
            { key: 'password', label: t('service.password'), children: <CopyCode text={shown.password} /> },
          ]}
        />
      )}
    </FormDialog>
  )
}
