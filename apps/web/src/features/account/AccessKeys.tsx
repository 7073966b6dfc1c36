import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Modal from 'antd/es/modal'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import Space from 'antd/es/space'
import { useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import type { ResponseOf } from '@zhisuan/contract/define'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { accessKeyCan, accessKeyLimits, accessKeys, accessKeySchemes, type AccessKey, type AccessKeyScheme } from '@zhisuan/contract/ums/access-key'
import { useCall, useChange } from '../../api/hooks.ts'
import { ActionMenu, type Action } from '../../kit/actions.tsx'
import { keyTones, shownStatus } from '../../kit/accessKeyState.ts'
import { allowed } from '../../kit/allowed.ts'
import { copyText } from '../../kit/copy.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { refusing, wrongWith } from '../../kit/rules.ts'
import { paths } from '../../paths.ts'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import './account.css'

type Made = ResponseOf<typeof accessKeys.create>
type Open = { readonly at: 'make' } | { readonly at: 'edit' | 'rotate'; readonly key: AccessKey } | { readonly at: 'secret'; readonly made: Made }

const stale = [accessKeys.list] as const
const dayMs = 24 * 60 * 60_000
/** What a program that only looks needs. */
const reading = { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: ['*.list', '*.get'], Resource: '*' }] }

/** One's own keys for programs: made, changed, rotated, switched off and deleted. */
export function AccessKeys() {
  const { t } = useTranslation('account')
  const { data, error, refetch } = useCall(accessKeys.list, {}, { silent: true })
  const [open, setOpen] = useState<Open | null>(null)
  const act = useChange(accessKeys.action, { invalidates: stale })
  const remove = useChange(accessKeys.delete, { invalidates: stale })
  const close = (): void => setOpen(null)
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 2 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />

  const actionsOf = (key: AccessKey): Action[] => {
    const { id, name, status } = key
    const why = (action: keyof typeof accessKeyCan) => allowed(accessKeyCan, action, status, t(`accessKey.statuses.${status}`))
    return [
      { key: 'rotate', call: accessKeys.rotate, label: t('accessKey.rotate'), disabledReason: why('rotate'), run: async () => setOpen({ at: 'rotate', key }) },
      { key: 'edit', call: accessKeys.update, label: t('accessKey.edit'), run: async () => setOpen({ at: 'edit', key }) },
      status === 'active'
        ? {
            key: 'disable',
            call: accessKeys.action,
            label: t('accessKey.disable'),
            confirm: { title: t('accessKey.disableTitle', { name }), body: t('accessKey.disableBody') },
            doneText: t('accessKey.disabled', { name }),
            run: () => act.mutateAsync({ params: { id }, body: { action: 'disable' } }),
          }
        : {
            key: 'enable',
            call: accessKeys.action,
            label: t('accessKey.enable'),
            disabledReason: why('enable'),
            doneText: t('accessKey.enabled', { name }),
            run: () => act.mutateAsync({ params: { id }, body: { action: 'enable' } }),
          },
      {
        key: 'delete',
        call: accessKeys.delete,
        label: t('accessKey.delete'),
        danger: true,
        confirm: { title: t('accessKey.deleteTitle', { name }), body: t('accessKey.deleteBody') },
        doneText: t('accessKey.deleted', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }

  return (
    <>
      {data.total === 0 ? (
        <p className="account-current">{t('accessKey.none')}</p>
      ) : (
        <ul className="account-keys" aria-label={t('accessKey.title')}>
          {data.items.map((key) => (
            <li key={key.id}>
              <KeyFacts of={key} />
              <ActionMenu label={key.name} actions={actionsOf(key)} />
            </li>
          ))}
        </ul>
      )}
      <Space wrap>
        <Button type={data.total === 0 ? 'primary' : 'default'} disabled={data.total >= accessKeyLimits.perPerson} onClick={() => setOpen({ at: 'make' })}>
          {t('accessKey.make')}
        </Button>
        <Link to={paths.help.detail('access-keys')}>{t('accessKey.help')}</Link>
      </Space>
      {data.total >= accessKeyLimits.perPerson && <p className="zs-soft">{t('accessKey.full', { limit: accessKeyLimits.perPerson })}</p>}
      {open?.at === 'make' && <KeyDialog onMade={(made) => setOpen({ at: 'secret', made })} onClose={close} />}
      {open?.at === 'edit' && <KeyDialog of={open.key} onClose={close} />}
      {open?.at === 'rotate' && <RotateDialog of={open.key} onMade={(made) => setOpen({ at: 'secret', made })} onClose={close} />}
      {open?.at === 'secret' && <SecretDialog made={open.made} onClose={close} />}
    </>
  )
}

function KeyFacts({ of: key }: { readonly of: AccessKey }) {
  const { t } = useTranslation('account')
  const status = shownStatus(key)
  const limits = [
    key.expires_at === null ? null : t('accessKey.until', { at: format.dateTime(key.expires_at) }),
    key.networks.length === 0 ? null : t('accessKey.from', { networks: key.networks.join('、') }),
    key.document === null ? null : t('accessKey.limited'),
    key.previous_until === null ? null : t('accessKey.previous', { at: format.dateTime(key.previous_until) }),
  ].filter((text) => text !== null)
  return (
    <div className="account-key">
      {key.name} <StatusTag tone={keyTones[status]}>{t(`accessKey.statuses.${status}`)}</StatusTag>
      <p>
        {t(`accessKey.schemes.${key.scheme}`)} · {t('accessKey.hint', { hint: key.hint })} ·{' '}
        {key.last_used_at === null ? t('accessKey.unused') : t('accessKey.used', { at: format.dateTime(key.last_used_at), ip: key.last_used_ip ?? '' })}
      </p>
      {key.scheme === 'hmac' && (
        <p>
          {t('accessKey.id')} <code>{key.id}</code>
        </p>
      )}
      {limits.length > 0 && <p>{limits.join(' · ')}</p>}
    </div>
  )
}

interface Values {
  name: string
  scheme: AccessKeyScheme
  /** Days from now; `keep` as it is, 0 for ever. */
  days: number | 'keep'
  access: 'all' | 'reading' | 'custom'
  document: string
  networks: string
  password?: string
}

const linesOf = (text: string): string[] => text.split(/[\s,，、]+/).filter((line) => line !== '')
const isReading = (document: unknown): boolean => JSON.stringify(document) === JSON.stringify(reading)

/** Makes a key, or changes what one may be used for. */
function KeyDialog({ of: key, onMade, onClose }: Dialog<{ of?: AccessKey; onMade?: (made: Made) => void }>) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<Values>()
  const create = useChange(accessKeys.create, { silent: true, invalidates: stale })
  const update = useChange(accessKeys.update, { silent: true, invalidates: stale })
  const { asking, passwordField } = useAskedPassword()
  const access = Form.useWatch('access', form)
  const made = useRef<Made | null>(null)
  const settingsOf = ({ name, days, access: chosen, document, networks }: Values) => ({
    name,
    networks: linesOf(networks ?? ''),
    expires_at: days === 'keep' ? (key?.expires_at ?? null) : days === 0 ? null : new Date(Date.now() + days * dayMs).toISOString(),
    document: chosen === 'all' ? null : chosen === 'reading' ? reading : (JSON.parse(document) as unknown),
  })
  const submit = async (values: Values): Promise<void> => {
    if (key !== undefined) await update.mutateAsync({ params: { id: key.id }, body: settingsOf(values) })
    else
      made.current = await asking(() =>
        create.mutateAsync({ body: { ...settingsOf(values), scheme: values.scheme, ...(values.password !== undefined && { password: values.password }) } }),
      )
  }
  const keeps = key !== undefined
  return (
    <FormDialog<Values>
      form={form}
      title={keeps ? t('accessKey.editTitle', { name: key.name }) : t('accessKey.make')}
      okText={keeps ? t('save') : t('accessKey.submit')}
      doneText={keeps ? t('saved') : t('accessKey.made')}
      width={600}
      initialValues={{
        name: key?.name ?? '',
        scheme: 'bearer',
        days: keeps ? 'keep' : 90,
        access: key === undefined || key.document === null ? 'all' : isReading(key.document) ? 'reading' : 'custom',
        document: JSON.stringify(key?.document ?? reading, null, 2),
        networks: key?.networks.join('\n') ?? '',
      }}
      onSubmit={submit}
      // Made or not: what was made is shown next.
      onClose={() => (made.current === null ? onClose() : onMade?.(made.current))}
    >
      <TextField name="name" label={t('accessKey.name')} extra={t('accessKey.nameHint')} schema={accessKeys.create.body.shape.name} autoFocus />
      {!keeps && (
        <RadioField
          name="scheme"
          label={t('accessKey.scheme')}
          className="account-choices"
          values={accessKeySchemes}
          labelOf={(value) => <Choice title={t(`accessKey.schemes.${value}`)} note={t(`accessKey.schemeNotes.${value}`)} />}
        />
      )}
      <SelectField
        name="days"
        label={t('accessKey.expiry')}
        options={[
          ...(keeps
            ? [
                {
                  value: 'keep',
                  label: key.expires_at === null ? t('accessKey.keepForever') : t('accessKey.keepUntil', { at: format.dateTime(key.expires_at) }),
                },
              ]
            : []),
          ...[7, 30, 90, 365].map((days) => ({ value: days, label: t('accessKey.days', { count: days }) })),
          ...(keeps && key.expires_at === null ? [] : [{ value: 0, label: t('accessKey.forever') }]),
        ]}
      />
      <RadioField
        name="access"
        label={t('accessKey.access')}
        className="account-choices"
        values={['all', 'reading', 'custom'] as const}
        labelOf={(value) => <Choice title={t(`accessKey.accesses.${value}`)} note={t(`accessKey.accessNotes.${value}`)} />}
      />
      {access === 'custom' && (
        <TextAreaField
          name="document"
          label={t('accessKey.document')}
          extra={t('accessKey.documentHint')}
          validateTrigger="onBlur"
          rules={[refusing((text: string) => !isJson(text) && t('accessKey.syntax'))]}
          required
          code
          rows={12}
        />
      )}
      <TextAreaField
        name="networks"
        label={t('accessKey.networks')}
        extra={t('accessKey.networksHint')}
        validateTrigger="onBlur"
        rules={[refusing((text: string) => wrongWith(accessKeys.update.body.shape.networks, linesOf(text)))]}
        code
        autoSize={{ minRows: 2, maxRows: 6 }}
      />
      {passwordField}
    </FormDialog>
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const Choice = ({ title, note }: { readonly title: string; readonly note: string }) => (
  <>
    {title} <span className="zs-soft">{note}</span>
  </>
)

const overlaps = [
  { name: 'none', value: 0 },
  { name: 'hour', value: 3600 },
  { name: 'day', value: 24 * 3600 },
  { name: 'week', value: accessKeyLimits.overlapSeconds },
] as const

function RotateDialog({ of: key, onMade, onClose }: Dialog<{ of: AccessKey; onMade: (made: Made) => void }>) {
  const { t } = useTranslation('account')
  const rotate = useChange(accessKeys.rotate, { silent: true, invalidates: stale })
  const { asking, passwordField } = useAskedPassword()
  const made = useRef<Made | null>(null)
  return (
    <FormDialog<{ overlap_seconds: number; password?: string }>
      title={t('accessKey.rotateTitle', { name: key.name })}
      okText={t('accessKey.rotate')}
      doneText={t('accessKey.rotated', { name: key.name })}
      initialValues={{ overlap_seconds: 0 }}
      onSubmit={async (body) => {
        made.current = await asking(() => rotate.mutateAsync({ params: { id: key.id }, body }))
      }}
      onClose={() => (made.current === null ? onClose() : onMade(made.current))}
    >
      <p>{t('accessKey.rotateText')}</p>
      <Form.Item name="overlap_seconds" label={t('accessKey.overlap')}>
        <Select aria-label={t('accessKey.overlap')} options={overlaps.map(({ name, value }) => ({ value, label: t(`accessKey.overlaps.${name}`) }))} />
      </Form.Item>
      {passwordField}
    </FormDialog>
  )
}

/** The secret, this once: whoever closes it says that they have it. */
function SecretDialog({ made: { key, secret }, onClose }: Dialog<{ made: Made }>) {
  const { t } = useTranslation('account')
  const parts = [...(key.scheme === 'hmac' ? [{ label: t('accessKey.id'), text: key.id }] : []), { label: t(`accessKey.secrets.${key.scheme}`), text: secret }]
  return (
    <Modal
      open
      title={t('accessKey.secretTitle', { name: key.name })}
      width={600}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('accessKey.kept')}
        </Button>
      }
    >
      <Alert type="warning" showIcon title={t('accessKey.once')} className="zs-above" />
      <dl className="account-told">
        {parts.map(({ label, text }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <code className="account-secret">{text}</code>
              <Button size="small" aria-label={`${t('accessKey.copy')} ${label}`} onClick={() => void copyText(text)}>
                {t('accessKey.copy')}
              </Button>
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}
