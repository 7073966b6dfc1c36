import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import { cloudConnection } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from 'react-i18next'
import { field } from '../../kit/rules.ts'
import { PemInput } from './PemInput.tsx'

const [socket, https] = cloudConnection.options
export const connectionTypes = ['lxd-socket', 'lxd-https', 'sandbox'] as const
export type ConnectionType = (typeof connectionTypes)[number]

/** How to reach an engine, named as in the body of the call. */
export function ConnectionFields() {
  const { t } = useTranslation('clouds')
  const type: ConnectionType = Form.useWatch(['connection', 'type']) ?? 'lxd-socket'
  const name = (key: string) => ['connection', key]
  return (
    <>
      <Form.Item name={name('type')} label={t('form.type')} extra={t(`form.connectionNote.${type}`)} required>
        <Radio.Group optionType="button" options={connectionTypes.map((value) => ({ value, label: t(`form.connectionType.${value}`) }))} />
      </Form.Item>
      {type === 'lxd-socket' && (
        <Form.Item name={name('socket_path')} label={t('form.socketPath')} extra={t('form.socketPathNote')} {...field(socket.shape.socket_path)}>
          <Input className="zs-code" spellCheck={false} autoComplete="off" />
        </Form.Item>
      )}
      {type === 'lxd-https' && (
        <>
          <Form.Item name={name('url')} label={t('form.url')} {...field(https.shape.url)}>
            <Input className="zs-code" placeholder="https://10.0.0.10:8443" spellCheck={false} autoComplete="off" />
          </Form.Item>
          <Form.Item name={name('client_certificate')} label={t('form.clientCertificate')} extra={t('form.clientCertificateNote')} {...field(https.shape.client_certificate)}>
            <PemInput kind="CERTIFICATE" />
          </Form.Item>
          <Form.Item name={name('client_key')} label={t('form.clientKey')} extra={t('form.clientKeyNote')} {...field(https.shape.client_key)}>
            <PemInput kind="PRIVATE KEY" />
          </Form.Item>
          <Form.Item name={name('server_certificate')} label={t('form.serverCertificate')} extra={t('form.serverCertificateNote')} {...field(https.shape.server_certificate)}>
            <PemInput kind="CERTIFICATE" />
          </Form.Item>
          <Form.Item name={name('project')} label={t('form.project')} extra={t('form.projectNote')} {...field(https.shape.project)}>
            <Input className="zs-code" spellCheck={false} autoComplete="off" />
          </Form.Item>
        </>
      )}
    </>
  )
}
