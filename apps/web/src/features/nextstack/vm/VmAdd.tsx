import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { createVmBody, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { vpcCan, vpcs, type Vpc, type VpcStatus } from '@zhisuan/contract/nextstack/vpc'
import { fieldTexts, quotaTexts } from '@zhisuan/contract/texts'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { toApiError, type ApiError } from '../../../api/client.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { SelectField } from '../../../kit/SelectField.tsx'
import { TextAreaField, TextField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { amountText } from '../../../kit/quotaLines.ts'
import { showFieldErrors } from '../../../kit/rules.ts'
import { paths } from '../../../paths.ts'
import { useClouds } from '../../../session/cloud.ts'
import { readCloudChoice, writeCloudChoice } from '../../../session/cloudChoice.ts'
import { useCurrentUser } from '../../../session/user.ts'
import { BillingMode, byHour, type Billing } from '../../../kit/price/BillingMode.tsx'
import { flavorItems } from '../../../kit/price/items.ts'
import { useOrdering } from '../../../kit/price/useOrdering.ts'
import { useUnorderable } from '../../../kit/price/useQuote.ts'
import { CloudNotice, troubleOf } from '../CloudNotice.tsx'
import { NextStackPage } from '../NextStackPage.tsx'
import '../nextstack.css'
import { GroupSelect } from '../network/GroupSelect.tsx'
import { AccessFields } from './AccessFields.tsx'
import { DiskInput } from './DiskInput.tsx'
import { DiskUnlimited } from './DiskUnlimited.tsx'
import { diskRule } from './diskRule.ts'
import { beyondQuota, quotaLeft } from './flavorQuota.ts'
import { FlavorPicker, useFlavors } from './FlavorPicker.tsx'
import { ImagePicker, useImages } from './ImagePicker.tsx'
import { OwnNetwork } from './OwnNetwork.tsx'
import { TypeCards } from './TypeCards.tsx'
import { VmAddSummary } from './VmAddSummary.tsx'
import { clearDraft, readDraft, writeDraft } from './vmDraft.ts'
import { accessOf, bodyOf, corrections, diskFor, privateNetwork, vpcIdOf, type VmTyped, type VmValues } from './vmForm.ts'
import { expandedNames, namesAreCut } from './vmNames.ts'
import '../../../kit/addPage.css'
import '../../../kit/form.css'

const shape = createVmBody.shape
const blank: VmTyped = { count: 1, description: '' }

/** Creates instances: all on one page, with what was chosen beside it. What was typed survives a refusal and a reload. */
export default function VmAdd() {
  const { t } = useTranslation(['nextstack', 'price'])
  const navigate = useNavigate()
  const userId = useCurrentUser()?.id ?? ''
  const { list, selected, loading } = useClouds()
  const clouds = list.filter(({ product }) => product === 'nextstack')
  const [form] = Form.useForm<VmTyped>()
  const [draft, setDraft] = useState(() => readDraft(sessionStorage, userId, readCloudChoice()))
  const [refused, setRefused] = useState<{ text: string; rest: readonly string[] } | null>(null)
  const [billing, setBilling] = useState<Billing>(byHour)
  // Of a draft it is what its disk is more than its flavor wants.
  const [typedDisk, setTypedDisk] = useState<number | null | undefined>()
  const ordering = useOrdering()
  const typed: VmTyped = Form.useWatch([], form) ?? {}

  const cloud = clouds.find(({ cloud_id }) => cloud_id === typed.cloud_id)
  const runnable = typed.type !== undefined && cloud?.instance_types[typed.type].available === true
  const imagesOf = runnable ? cloud.cloud_id : undefined
  const images = useImages(imagesOf, typed.type).data?.items
  const image = images?.find(({ fingerprint }) => fingerprint === typed.image_fingerprint)
  const place = cloud === undefined ? {} : { cloud_id: cloud.cloud_id }
  const flavors = useFlavors(place).data?.items
  const flavor = flavors?.find(({ id }) => id === typed.flavor_id)
  const items = flavor === undefined ? [] : flavorItems(flavor, typed.disk_bytes ?? flavor.disk_bytes)
  const unorderable = useUnorderable(items, billing)
  const network = useCall(networks.list, { query: { cloud_id: cloud?.cloud_id ?? '' } }, { enabled: cloud !== undefined, silent: true })
  const privates = useCall(vpcs.list, { query: { cloud_id: cloud?.cloud_id, page_size: 1000, sort: 'name' } }, { enabled: cloud !== undefined, silent: true })
  const bpId = useCurrentUser()?.bp_id ?? null
  const mine = useCall(quotas.mine, {}, { enabled: bpId !== null, silent: true })
  const left = quotaLeft(mine.data?.lines ?? [])
  // An administrator sees everybody's networks; what they make is their own.
  const nets = privates.data?.items.filter((vpc) => vpc.bp_id === bpId && allowedToJoin(vpc))
  // One of their own before those that all share, the newest first.
  const own = nets?.toSorted((one, other) => other.created_at.localeCompare(one.created_at))
  const offered = network.data === undefined || own === undefined ? undefined : [...own.map(({ id }) => ({ name: privateNetwork(id) })), ...network.data.items]

  useEffect(() => {
    const changes = corrections(typed, {
      clouds: loading ? undefined : clouds,
      preferredCloud: selected?.cloud_id,
      images: runnable ? images : undefined,
      flavors,
      networks: offered,
    })
    if (Object.keys(changes).length > 0) form.setFieldsValue(changes)
  })

  // Chosen in the switcher while the form is open: it is for that cloud from now on.
  const chosenBefore = useRef(selected?.cloud_id)
  useEffect(() => {
    const now = selected?.cloud_id
    if (now === undefined || now === chosenBefore.current) return
    if (chosenBefore.current !== undefined && clouds.some(({ cloud_id }) => cloud_id === now)) form.setFieldValue('cloud_id', now)
    chosenBefore.current = now
  })

  const create = useChange(vms.create, { invalidates: [vms.list], silent: true })
  const submit = (): void => {
    setRefused(null)
    // The form's rules have just let them through: what is required is there.
    const values = form.getFieldsValue() as VmValues
    if (Object.keys(accessOf(values, image?.cloud_init ?? false)).length === 0) {
      form.setFields([{ name: 'password', errors: [fieldTexts.loginChoice] }])
      form.scrollToField('password', { block: 'center', focus: true })
      return
    }
    const body = bodyOf(values, image?.cloud_init ?? false)
    const onError = (error: ApiError): void => setRefused({ text: errorText(error), rest: showFieldErrors(form, error.fields).map(({ message }) => message) })
    if (billing.mode !== 'hour') {
      ordering.order({ resource_type: 'nextstack.vm', create: body }, billing).then(
        () => clearDraft(sessionStorage),
        (thrown: unknown) => onError(toApiError(thrown)),
      )
      return
    }
    create.mutate(
      { body },
      {
        onSuccess: ({ items }) => {
          clearDraft(sessionStorage)
          notify('success', items.length === 1 ? t('add.done', { name: values.name }) : t('add.doneMany', { count: items.length }))
          writeCloudChoice(values.cloud_id)
          void navigate(paths.nextstack.vm.list())
        },
        onError,
      },
    )
  }
  const startAnew = (): void => {
    clearDraft(sessionStorage)
    setDraft(null)
    setTypedDisk(null)
    // resetFields would bring the draft back: it was the form's beginning.
    form.setFieldsValue({ ...Object.fromEntries(Object.keys(shape).map((key) => [key, undefined])), ...blank })
  }

  const count = typed.count ?? 1
  const beyond = (of: Flavor): string | null => {
    const over = beyondQuota(of, count, left)
    return over === null ? null : t('add.flavorBeyond', { resource: quotaTexts[over.resource], left: amountText(over.resource, over.left) })
  }
  const trouble = cloud === undefined ? null : troubleOf(cloud)
  const missing = [
    ...(image === undefined ? [t('field.image')] : []),
    ...(flavor === undefined ? [t('field.flavor')] : []),
    ...(typed.network === undefined ? [t('field.network')] : []),
    ...(Object.keys(accessOf(typed, image?.cloud_init ?? true)).length === 0 ? [t('add.step.access')] : []),
    ...((typed.name ?? '').trim() === '' ? [t('field.name')] : []),
  ]
  const required = (field: string) => [{ required: true, message: t('add.required', { field }) }]
  return (
    <NextStackPage possible={clouds.length > 0}>
      <Form<VmTyped>
        noValidate
        form={form}
        layout="vertical"
        className="zs-add"
        initialValues={{ ...blank, ...draft }}
        onValuesChange={(changed, values) => {
          const next = flavors?.find(({ id }) => id === changed.flavor_id)
          if ('disk_bytes' in changed) setTypedDisk(changed.disk_bytes ?? null)
          if (next !== undefined) {
            const own = typedDisk !== undefined ? typedDisk : values.disk_bytes === flavor?.disk_bytes ? null : (values.disk_bytes ?? null)
            form.setFieldValue('disk_bytes', diskFor(next, own))
          }
          writeDraft(sessionStorage, userId, readCloudChoice(), { ...values, disk_bytes: form.getFieldValue('disk_bytes') as unknown })
        }}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        <div>
          {draft !== null && (
            <Alert
              className="zs-above"
              type="info"
              showIcon
              title={t('add.restored')}
              action={
                <Button size="small" onClick={startAnew}>
                  {t('add.discard')}
                </Button>
              }
            />
          )}

          <Step number={1} title={t('add.step.where')}>
            <Form.Item name="cloud_id" label={t('field.cloud')} rules={required(t('field.cloud'))}>
              <Select
                loading={loading}
                className="zs-field"
                options={clouds.map((one) => ({
                  value: one.cloud_id,
                  label: (
                    <>
                      {one.name} {one.sandbox && <span className="zs-label zs-label-sandbox">{t('sandbox')}</span>} <CloudTrouble of={troubleOf(one)} />
                    </>
                  ),
                }))}
              />
            </Form.Item>
            {cloud !== undefined && <CloudNotice cloud={cloud} />}
            <Form.Item name="type" label={t('field.type')} rules={required(t('field.type'))}>
              <TypeCards types={cloud?.instance_types} />
            </Form.Item>
            {cloud !== undefined && !cloud.instance_types.vm.available && !cloud.instance_types.container.available && (
              <Alert type="error" showIcon title={t('add.noType')} />
            )}
          </Step>

          <Step number={2} title={t('add.step.image')}>
            <Form.Item name="image_fingerprint" rules={required(t('field.image'))}>
              <ImagePicker cloudId={imagesOf} type={typed.type ?? 'vm'} />
            </Form.Item>
          </Step>

          <Step number={3} title={t('add.step.size')}>
            <Form.Item name="flavor_id" rules={required(t('field.flavor'))}>
              <FlavorPicker off={beyond} place={place} />
            </Form.Item>
            {left.length > 0 && (
              <p className="zs-soft">
                {t('add.quotaLeft', { left: left.map((one) => `${quotaTexts[one.resource]} ${amountText(one.resource, one.left)}`).join('、') })}
              </p>
            )}
            <Form.Item
              name="disk_bytes"
              label={t('field.disk')}
              extra={
                flavor !== undefined && (
                  <>
                    {t('add.diskNote', { disk: format.bytes(flavor.disk_bytes) })}
                    <DiskUnlimited cloudId={cloud?.cloud_id} type={typed.type} />
                  </>
                )
              }
              rules={flavor === undefined ? [] : [diskRule(t, flavor.disk_bytes)]}
            >
              <DiskInput minBytes={flavor?.disk_bytes ?? 1} disabled={flavor === undefined} />
            </Form.Item>
          </Step>

          <Step number={4} title={t('add.step.network')}>
            {network.error !== null && network.data === undefined ? (
              <ErrorPanel error={network.error} onRetry={() => void network.refetch()} />
            ) : (
              <>
                {cloud?.status === 'active' && bpId !== null && own?.length === 0 && (
                  <OwnNetwork
                    cloudId={cloud.cloud_id}
                    taken={(network.data?.items ?? []).map(({ ipv4 }) => ipv4)}
                    onMade={async (id) => {
                      // What is not offered yet is not to be chosen.
                      await privates.refetch()
                      form.setFieldValue('network', privateNetwork(id))
                    }}
                  />
                )}
                <SelectField
                  name="network"
                  rules={required(t('field.network'))}
                  aria-label={t('field.network')}
                  loading={cloud !== undefined && network.isPending}
                  className="zs-field"
                  notFoundContent={t('add.networkNone')}
                  options={[
                    {
                      label: t('add.networkPrivate'),
                      options: (nets ?? []).map(({ id, name, cidr, description }) => ({
                        value: privateNetwork(id),
                        label: <NetworkLabel name={name} notes={[cidr, description]} />,
                      })),
                    },
                    {
                      label: t('add.networkCloud'),
                      options: (network.data?.items ?? []).map(({ name, description, ipv4, ipv6 }) => ({
                        value: name,
                        label: <NetworkLabel name={name} notes={[ipv4, ipv6, description]} />,
                      })),
                    },
                  ].filter(({ options }) => options.length > 0)}
                />
                {cloud !== undefined && vpcIdOf(typed.network) !== null && (
                  <Form.Item name="security_group_ids" label={t('field.groups')} extra={t('add.groupsNote')}>
                    <GroupSelect cloudId={cloud.cloud_id} bpId={bpId} />
                  </Form.Item>
                )}
              </>
            )}
          </Step>

          <Step number={5} title={t('add.step.access')}>
            <p className="zs-soft">{image?.cloud_init === false ? t('add.accessNoteNoInit') : t('add.accessNote')}</p>
            <AccessFields cloudInit={image?.cloud_init ?? null} />
          </Step>

          <Step number={6} title={t('add.step.name')}>
            <TextField name="name" label={t('field.name')} extra={t('add.nameNote')} schema={shape.name} className="zs-field" />
            <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={2} showCount className="zs-field" />
            <NumberField name="count" label={t('field.count')} extra={<Names name={typed.name ?? ''} count={count} />} schema={shape.count} />
          </Step>
        </div>

        <aside className="zs-add-side" aria-label={t('add.summary')}>
          <div className="zs-card">
            <h2 className="zs-heading">{t('add.summary')}</h2>
            <VmAddSummary
              typed={typed}
              network={nets?.find(({ id }) => id === vpcIdOf(typed.network))?.name ?? typed.network}
              cloud={cloud}
              image={image}
              flavor={flavor}
              items={items}
              billing={billing}
            />
            {bpId !== null && <BillingMode value={billing} onChange={setBilling} />}
            <div aria-live="polite">
              {refused !== null && (
                <Alert type="error" showIcon className="zs-above" title={t('add.refused', { reason: refused.text })} description={refused.rest.join('；')} />
              )}
              {billing.mode !== 'hour' && count > 1 && <p className="zs-bad">{t('price:oneOnly')}</p>}
              {missing.length > 0 && <p className="zs-soft">{t('add.missing', { fields: missing.join('、') })}</p>}
              {(trouble === 'maintenance' || trouble === 'offline') && <p className="zs-soft">{t('add.cloudUnavailable')}</p>}
            </div>
            <Button
              type="primary"
              htmlType="submit"
              block
              size="large"
              loading={create.isPending || ordering.pending}
              disabled={cloud?.status !== 'active' || unorderable || (billing.mode !== 'hour' && count > 1)}
            >
              {billing.mode !== 'hour' ? t('price:toPay') : count > 1 ? t('add.submitMany', { count }) : t('add.submit')}
            </Button>
            <Button type="text" block onClick={() => void navigate(paths.nextstack.vm.list())}>
              {t('add.cancel')}
            </Button>
          </div>
        </aside>
      </Form>
    </NextStackPage>
  )
}

/** Networks that instances may be put into now. */
const allowedToJoin = ({ status }: Vpc): boolean => (vpcCan.connect as readonly VpcStatus[]).includes(status)

function NetworkLabel({ name, notes }: { readonly name: string; readonly notes: readonly (string | null)[] }) {
  return (
    <>
      {name} <span className="zs-soft">{notes.filter((part) => part !== null && part !== '').join(' · ')}</span>
    </>
  )
}

function Step({ number, title, children }: { readonly number: number; readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="zs-card ns-step" aria-labelledby={`step-${number}`}>
      <h2 className="zs-heading" id={`step-${number}`}>
        <span className="ns-step-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h2>
      {children}
    </section>
  )
}

function CloudTrouble({ of }: { readonly of: ReturnType<typeof troubleOf> }) {
  const { t } = useTranslation('shell')
  if (of === null) return null
  return <span className="zs-soft">{of === 'maintenance' || of === 'offline' ? t(`cloud.status.${of}`) : t(`cloud.health.${of}`)}</span>
}

/** The names that will come of it, so that nobody is surprised by web-1. */
function Names({ name, count }: { readonly name: string; readonly count: number }) {
  const { t } = useTranslation('nextstack')
  const base = name.trim()
  if (count <= 1 || base === '') return t('add.countNote')
  const names = expandedNames(base, Math.min(50, count))
  return (
    <>
      {names.length <= 5
        ? t('add.names', { names: names.join('、') })
        : t('add.namesMany', { count: names.length, first: names[0] ?? '', last: names.at(-1) ?? '' })}
      {namesAreCut(base, count) && ` ${t('add.namesCut')}`}
    </>
  )
}
