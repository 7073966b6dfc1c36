import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import Radio from 'antd/es/radio'
import Skeleton from 'antd/es/skeleton'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeFlavors } from '@zhisuan/contract/compute/flavor'
import { computeImages } from '@zhisuan/contract/compute/image'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import { copyText } from '../../../kit/copy.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { Field, PasswordField, RadioField, TextField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { useReturnFocus } from '../../../kit/focus.ts'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { computeFlavorItems } from '../../../kit/price/items.ts'
import { PriceChange } from '../../../kit/price/Price.tsx'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { refusing } from '../../../kit/rules.ts'
import { useCloudChoices } from '../CloudTable.tsx'
import { InstanceFloatingBind, InstanceFloatingUnbind } from '../floating-ip/InstanceFloatingIp.tsx'
import { useOwner } from '../tenancy/useOwner.ts'
import { useShortReason } from '../tenancy/useShortReason.ts'
import { imageChoice, isUsable } from './choices.ts'
import { CloudSelect } from './CloudSelect.tsx'
import { FlavorPicker } from './FlavorPicker.tsx'
import { sizeText } from './instanceColumns.tsx'
import { serialConsoleOf, invalidatedByInstance, whyNotInstance } from './instanceRules.ts'

export type DialogKind =
  | 'rename'
  | 'resize'
  | 'rebuild'
  | 'rescue'
  | 'password'
  | 'migrate'
  | 'resetState'
  | 'snapshot'
  | 'console'
  | 'bindFloatingIp'
  | 'unbindFloatingIp'

type Of = Dialog<{ instance: ComputeInstance; cloud: CloudBasic }>

/** What has to be said before something is done to an instance. */
export function InstanceDialog({ kind, ...of }: Of & { readonly kind: DialogKind }) {
  switch (kind) {
    case 'rename':
      return <Rename {...of} />
    case 'resize':
      return <Resize {...of} />
    case 'rebuild':
      return <Rebuild {...of} />
    case 'rescue':
      return <Rescue {...of} />
    case 'password':
      return <Password {...of} />
    case 'migrate':
      return <Migrate {...of} />
    case 'resetState':
      return <ResetState {...of} />
    case 'snapshot':
      return <Snapshot {...of} />
    case 'console':
      return <Console {...of} />
    case 'bindFloatingIp':
      return <InstanceFloatingBind cloudId={of.cloud.cloud_id} instance={of.instance} onClose={of.onClose} />
    case 'unbindFloatingIp':
      return <InstanceFloatingUnbind cloudId={of.cloud.cloud_id} instance={of.instance} onClose={of.onClose} />
  }
}

const silently = { invalidates: invalidatedByInstance, silent: true } as const
const paramsOf = ({ instance, cloud }: Of) => ({ cloud_id: cloud.cloud_id, id: instance.id })

function Rename(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, onClose } = of
  const update = useChange(computeInstances.update, silently)
  const { shape } = computeInstances.update.body
  return (
    <FormDialog<{ name: string; description: string }>
      title={t('rename.title', { name: instance.name })}
      okText={t('rename.ok')}
      initialValues={{ name: instance.name, description: instance.description }}
      doneText={t('done.rename')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: paramsOf(of), body })}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

function Resize(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, cloud, onClose } = of
  const resize = useChange(computeInstances.resize, silently)
  const owner = useOwner(cloud.cloud_id, instance.keystone_project_id)
  const shortReason = useShortReason(cloud.cloud_id, { keystone_project_id: instance.keystone_project_id ?? '' })
  const now = instance.flavor
  const fromImage = instance.image_id !== null
  const [form] = Form.useForm<{ flavor_id: string }>()
  const chosenId = Form.useWatch('flavor_id', form)
  const flavors = useCloudChoices(computeFlavors.list, cloud.cloud_id).data?.items
  const chosen = flavors?.find(({ id }) => id === chosenId)
  // Nova tells an instance's flavor by its name, of which there is one.
  const itemsNow = now === null ? [] : computeFlavorItems({ ...now, extra_specs: flavors?.find(({ name }) => name === now.name)?.extra_specs ?? {} }, fromImage)
  return (
    <FormDialog<{ flavor_id: string }>
      form={form}
      title={t('resize.title', { name: instance.name })}
      okText={t('resize.ok')}
      width={680}
      initialValues={{}}
      doneText={t('done.resize', { name: instance.name })}
      onClose={onClose}
      onSubmit={(body) => resize.mutateAsync({ params: paramsOf(of), body })}
    >
      <p>{t('resize.now', { flavor: now === null ? format.nothing : `${now.name}（${sizeText(t, now)}）` })}</p>
      <Field name="flavor_id" label={t('field.flavor')} schema={computeInstances.resize.body.shape.flavor_id}>
        <FlavorPicker
          cloudId={cloud.cloud_id}
          ownDisk={fromImage}
          off={(flavor) => {
            if (now === null) return null
            if (flavor.name === now.name) return t('resize.same')
            // Nova makes disks of images larger, never smaller.
            if (fromImage && flavor.disk_bytes < now.disk_bytes) return t('resize.less')
            return shortReason({ cores: flavor.vcpus - now.vcpus, memory_bytes: flavor.memory_bytes - now.memory_bytes })
          }}
        />
      </Field>
      {now !== null && <PriceChange now={itemsNow} then={chosen === undefined ? itemsNow : computeFlavorItems(chosen, fromImage)} bpId={owner} />}
      <Alert type="info" showIcon title={t('resize.note')} />
      {fromImage && now !== null && chosen !== undefined && chosen.disk_bytes > now.disk_bytes && (
        <Alert type="warning" showIcon title={t('resize.grows', { from: format.bytes(now.disk_bytes), to: format.bytes(chosen.disk_bytes) })} />
      )}
    </FormDialog>
  )
}

function Rebuild(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, cloud, onClose } = of
  const rebuild = useChange(computeInstances.rebuild, silently)
  const { shape } = computeInstances.rebuild.body
  return (
    <FormDialog<{ image_id: string; password?: string; typed: string }>
      title={t('rebuild.title', { name: instance.name })}
      okText={t('rebuild.ok')}
      initialValues={instance.image_id === null ? {} : { image_id: instance.image_id }}
      doneText={t('done.rebuild', { name: instance.name })}
      onClose={onClose}
      onSubmit={({ image_id, password }) =>
        rebuild.mutateAsync({ params: paramsOf(of), body: { image_id, ...(password !== undefined && password !== '' && { password }) } })
      }
    >
      <Alert className="zs-above" type="warning" showIcon title={t('rebuild.warning')} />
      <Field name="image_id" label={t('field.image')} schema={shape.image_id}>
        <CloudSelect
          call={computeImages.list}
          cloudId={cloud.cloud_id}
          label={t('field.image')}
          choiceOf={imageChoice}
          only={isUsable}
          none={t('add.imageNone')}
        />
      </Field>
      <PasswordField name="password" label={t('rebuild.password')} extra={t('rebuild.passwordNote')} validateTrigger="onBlur" schema={shape.password} />
      <TextField
        name="typed"
        label={
          <>
            {t('rebuild.type')}
            <strong>{instance.name}</strong>
          </>
        }
        rules={[refusing((typed: string | undefined) => typed?.trim() !== instance.name && t('rebuild.typeWrong'))]}
      />
    </FormDialog>
  )
}

function Rescue(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, cloud, onClose } = of
  const rescue = useChange(computeInstances.rescue, silently)
  const [made, setMade] = useState<string | null>(null)
  // A password that the cloud thought of is told once the form has closed.
  const thoughtOf = useRef<string | null>(null)
  const { shape } = computeInstances.rescue.body
  if (made !== null) return <Told title={t('rescue.made')} note={t('rescue.madeNote')} secret={made} onClose={onClose} />
  return (
    <FormDialog<{ image_id?: string | null; password?: string }>
      title={t('rescue.title', { name: instance.name })}
      okText={t('rescue.ok')}
      initialValues={{}}
      doneText={t('done.rescue', { name: instance.name })}
      onClose={() => (thoughtOf.current === null ? onClose() : setMade(thoughtOf.current))}
      onSubmit={async ({ image_id, password }) => {
        const typed = password !== undefined && password !== ''
        const answer = await rescue.mutateAsync({ params: paramsOf(of), body: { image_id: image_id ?? null, ...(typed && { password }) } })
        if (!typed) thoughtOf.current = answer.password
      }}
    >
      <Alert className="zs-above" type="info" showIcon title={t('rescue.note')} />
      <Field name="image_id" label={t('rescue.image')} schema={shape.image_id}>
        <CloudSelect
          call={computeImages.list}
          cloudId={cloud.cloud_id}
          label={t('rescue.image')}
          choiceOf={imageChoice}
          only={isUsable}
          placeholder={t('rescue.imageDefault')}
          allowClear
        />
      </Field>
      <PasswordField name="password" label={t('rescue.password')} extra={t('rescue.passwordNote')} validateTrigger="onBlur" schema={shape.password} />
    </FormDialog>
  )
}

/** A secret that is told this once. */
function Told({ title, note, secret, onClose }: Dialog<{ title: string; note: string; secret: string }>) {
  const { t } = useTranslation('computeInstance')
  useReturnFocus()
  return (
    <Modal
      open
      title={title}
      onCancel={onClose}
      mask={{ closable: false }}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('rescue.saved')}
        </Button>
      }
    >
      <Alert className="zs-above" type="warning" showIcon title={note} />
      <p>
        <code className="zs-code">{secret}</code> <Button onClick={() => void copyText(secret)}>{t('rescue.copy')}</Button>
      </p>
    </Modal>
  )
}

function Password(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, onClose } = of
  const change = useChange(computeInstances.changePassword, silently)
  return (
    <FormDialog<{ password: string }>
      title={t('password.title', { name: instance.name })}
      okText={t('password.ok')}
      initialValues={{}}
      doneText={t('done.password')}
      onClose={onClose}
      onSubmit={(body) => change.mutateAsync({ params: paramsOf(of), body })}
    >
      <Alert className="zs-above" type="info" showIcon title={t('password.note')} />
      <Field name="password" label={t('field.password')} validateTrigger="onBlur" schema={computeInstances.changePassword.body.shape.password}>
        <Input.Password autoFocus autoComplete="new-password" />
      </Field>
    </FormDialog>
  )
}

function Migrate(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, cloud, onClose } = of
  const migrate = useChange(computeInstances.migrate, silently)
  const liveMigrate = useChange(computeInstances.liveMigrate, silently)
  const off = { live: whyNotInstance(t, 'liveMigrate', instance, cloud), cold: whyNotInstance(t, 'migrate', instance, cloud) }
  return (
    <FormDialog<{ way: 'live' | 'cold'; host?: string }>
      title={t('migrate.title', { name: instance.name })}
      okText={t('migrate.ok')}
      initialValues={{ way: off.live === null ? 'live' : 'cold' }}
      doneText={t('done.migrate', { name: instance.name })}
      onClose={onClose}
      onSubmit={({ way, host }) => {
        const input = { params: paramsOf(of), body: { host: host === undefined || host.trim() === '' ? null : host } }
        return way === 'live' ? liveMigrate.mutateAsync(input) : migrate.mutateAsync(input)
      }}
    >
      <RadioField
        name="way"
        label={t('field.live')}
        vertical
        options={(['live', 'cold'] as const).map((way) => ({
          value: way,
          disabled: off[way] !== null,
          label: (
            <>
              {t(`migrate.${way}`)} <span className="zs-soft">{off[way] ?? t(`migrate.${way}Note`)}</span>
            </>
          ),
        }))}
      />
      <TextField
        name="host"
        label={t('field.host')}
        extra={t('migrate.hostNote', { host: instance.host ?? format.nothing })}
        schema={computeInstances.migrate.body.shape.host}
        placeholder={t('migrate.hostAny')}
      />
    </FormDialog>
  )
}

function ResetState(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, onClose } = of
  const reset = useChange(computeInstances.resetState, silently)
  return (
    <FormDialog<{ state: 'active' | 'error' }>
      title={t('reset.title', { name: instance.name })}
      okText={t('reset.ok')}
      initialValues={{ state: 'active' }}
      doneText={t('done.resetState', { name: instance.name })}
      onClose={onClose}
      onSubmit={(body) => reset.mutateAsync({ params: paramsOf(of), body })}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('confirm.resetState')} />
      <RadioField name="state" label={t('reset.to')} values={['active', 'error'] as const} labelOf={(value) => t(`reset.${value}`)} />
    </FormDialog>
  )
}

function Snapshot(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, onClose } = of
  const [form] = Form.useForm<{ name: string; description: string }>()
  const keep = useChange(computeInstances.snapshot, { ...silently, invalidates: [...invalidatedByInstance, computeImages.list] })
  const { shape } = computeInstances.snapshot.body
  return (
    <FormDialog<{ name: string; description: string }>
      form={form}
      title={t('snapshot.title', { name: instance.name })}
      okText={t('snapshot.ok')}
      initialValues={{ name: '', description: '' }}
      doneText={t('snapshot.done')}
      onClose={onClose}
      onSubmit={(body) => keep.mutateAsync({ params: paramsOf(of), body })}
    >
      <Alert className="zs-above" type="info" showIcon title={t('snapshot.note')} />
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      {/* Of one that was started from a volume the image is empty, and Cinder keeps a snapshot. */}
      {instance.image_id !== null && instance.flavor !== null && <StoragePrice meter="image.size" bytes={instance.flavor.disk_bytes} />}
    </FormDialog>
  )
}

type ConsoleType = 'novnc' | 'serial'

/** The ways to its console: the cloud's own page in a window, and the terminal here. */
function Console(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { instance, onClose } = of
  useReturnFocus()
  const navigate = useNavigate()
  const [type, setType] = useState<ConsoleType>('novnc')
  return (
    <Modal
      open
      title={t('console.title', { name: instance.name })}
      onCancel={onClose}
      mask={{ closable: false }}
      footer={<Button onClick={onClose}>{t('console.close')}</Button>}
    >
      <Radio.Group
        aria-label={t('console.type')}
        className="zs-above"
        value={type}
        onChange={(event) => setType(event.target.value as ConsoleType)}
        options={(['novnc', 'serial'] as const).map((value) => ({ value, label: t(`console.${value}`) }))}
      />
      {type === 'novnc' ? (
        <NoVnc {...of} />
      ) : (
        <>
          <p>{t('console.serialNote')}</p>
          <Button
            type="primary"
            onClick={() => {
              onClose()
              void navigate(serialConsoleOf(instance.id))
            }}
          >
            {t('console.serialOpen')}
          </Button>
        </>
      )}
    </Modal>
  )
}

/** The address of the cloud's page; or what the cloud said where it has none. */
function NoVnc(of: Of) {
  const { t } = useTranslation('computeInstance')
  const { mutate, data, error, isPending } = useChange(computeInstances.console, { silent: true })
  const { cloud_id, id } = paramsOf(of)
  // An address is good for some minutes only.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => mutate({ params: { cloud_id, id }, body: {} }), [cloud_id, id])
  if (!isPending && error !== null) return <ErrorPanel title={t('console.none')} error={error} onRetry={() => mutate({ params: { cloud_id, id }, body: {} })} />
  if (isPending || data === undefined) return <Skeleton active title={false} paragraph={{ rows: 2 }} />
  // What a cloud says is followed only where it is a page.
  if (!/^https?:\/\//.test(data.url)) return <p>{t('console.none')}</p>
  return (
    <>
      <p>{t('console.once')}</p>
      <Button type="primary" href={data.url} target="_blank" rel="noopener noreferrer">
        {t('console.open')}
      </Button>
    </>
  )
}
