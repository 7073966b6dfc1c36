import CloseOutlined from '@ant-design/icons/es/icons/CloseOutlined'
import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeFlavors } from '@zhisuan/contract/compute/flavor'
import { computeImages } from '@zhisuan/contract/compute/image'
import { availabilityZones, computeInstances, createInstanceBody, serverGroups } from '@zhisuan/contract/compute/instance'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { computeSecurityGroups } from '@zhisuan/contract/compute/security-group'
import { computeVolumes, computeVolumeSnapshots, computeVolumeTypes } from '@zhisuan/contract/compute/volume'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { toApiError } from '../../../api/client.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { ErrorPanel, FailedEngine } from '../../../kit/ErrorPanel.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { CheckField, Field, RadioField, TextAreaField, TextField, type Controlled } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { refusing, showFieldErrors } from '../../../kit/rules.ts'
import { SearchSelect } from '../../../kit/SearchSelect.tsx'
import { paths } from '../../../paths.ts'
import { useCurrentUser } from '../../../session/user.ts'
import { useCloudChoices } from '../CloudTable.tsx'
import { ComputePage } from '../ComputePage.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { QuotaWarning } from '../tenancy/QuotaWarning.tsx'
import { useShortReason } from '../tenancy/useShortReason.ts'
import { AddSummary } from './AddSummary.tsx'
import { imageChoice, isJoinable, isUsable, networkChoice, volumeChoice } from './choices.ts'
import { CloudSelect, CloudSelectMany } from './CloudSelect.tsx'
import { FlavorPicker } from './FlavorPicker.tsx'
import { GibInput } from '../../../kit/GibInput.tsx'
import { clearDraft, readDraft, writeDraft } from './instanceDraft.ts'
import { blank, bodyOf, gib, hasOwnDisk, leastRootBytes, wantsOf, sourceTypes, type InstanceTyped } from './instanceForm.ts'
import { invalidatedByInstance } from './instanceRules.ts'
import { KeyPairMake } from '../../nextstack/key-pair/KeyPairMake.tsx'
import { ServerGroupMake } from './ServerGroupMake.tsx'
import { ServerGroupsManage } from './ServerGroupsManage.tsx'
import { Pairs, TagsField } from './TagsTab.tsx'
import './instance.css'
import '../../../kit/addPage.css'
import '../../../kit/panel.css'
import '../../../kit/form.css'

const { shape } = createInstanceBody
const diskRule = refusing((bytes: number | null | undefined) => ((bytes ?? gib) < gib || (bytes ?? gib) % gib !== 0) && fieldTexts.computeVolumeSize)
const userDataBytes = 48 * 1024
const countMost = 20

/** Creates instances: all on one page, with what was chosen beside it. What was typed survives a refusal and a reload. */
export default function InstanceAdd() {
  return <ComputePage>{(cloud) => (cloud === null ? null : <AddForm key={cloud.cloud_id} cloud={cloud} />)}</ComputePage>
}

function AddForm({ cloud }: { readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const user = useCurrentUser()
  const userId = user?.id ?? ''
  const cloudId = cloud.cloud_id
  const [form] = Form.useForm<InstanceTyped>()
  const [draft, setDraft] = useState(() => readDraft(sessionStorage, userId, cloudId))
  const [beginning] = useState(() => began(draft, search))
  const [refused, setRefused] = useState<ReactNode>(null)
  const typed: InstanceTyped = Form.useWatch([], form) ?? beginning

  const images = useCloudChoices(computeImages.list, cloudId).data?.items
  const snapshots = useCloudChoices(computeVolumeSnapshots.list, cloudId).data?.items
  const volumes = useCloudChoices(computeVolumes.list, cloudId).data?.items
  const networks = useCloudChoices(computeNetworks.list, cloudId).data?.items
  const flavor = useCloudChoices(computeFlavors.list, cloudId).data?.items.find(({ id }) => id === typed.flavor_id)
  const type = typed.source?.type ?? 'image'
  const image = type === 'image' ? images?.find(({ id }) => id === typed.source?.image_id) : undefined
  const snapshot = type === 'snapshot' ? snapshots?.find(({ id }) => id === typed.source?.snapshot_id) : undefined
  const volume = type === 'volume' ? volumes?.find(({ id }) => id === typed.source?.volume_id) : undefined
  const least = leastRootBytes({ image, snapshot })

  const shortReason = useShortReason(cloudId, { project_id: typed.project_id ?? null })
  useEffect(() => {
    const [only, ...others] = (networks ?? []).filter(isJoinable(null))
    const rows = form.getFieldValue('networks') as InstanceTyped['networks']
    // There is nothing to choose.
    if (only !== undefined && others.length === 0 && rows?.length === 1 && (rows[0]?.network_id ?? null) === null && !form.isFieldTouched('networks'))
      form.setFieldValue(['networks', 0, 'network_id'], only.id)
  }, [form, networks])

  const create = useChange(computeInstances.create, { invalidates: invalidatedByInstance, silent: true })
  const submit = async (): Promise<void> => {
    setRefused(null)
    // Also of parts that are not shown now: what is typed there is typed.
    const values = form.getFieldsValue(true) as InstanceTyped
    try {
      const { items } = await create.mutateAsync({ params: { cloud_id: cloudId }, body: bodyOf(values) })
      clearDraft(sessionStorage)
      notify('success', items.length === 1 ? t('add.done', { name: items[0]?.name ?? '' }) : t('add.doneMany', { count: items.length }))
      void navigate(paths.compute.instance.list())
    } catch (thrown) {
      const error = toApiError(thrown)
      const rest = showFieldErrors(form, error.fields)
      setRefused(
        <>
          {t('add.refused', { reason: [errorText(error), ...rest.map(({ message }) => message)].join('；') })}
          {error.detail !== null && <p className="zs-panel-note">{error.detail}</p>}
          {error.engine !== null && <FailedEngine engine={error.engine} />}
        </>,
      )
    }
  }
  const startAnew = (): void => {
    clearDraft(sessionStorage)
    setDraft(null)
    form.setFieldsValue({ ...Object.fromEntries(Object.keys(shape).map((key) => [key, undefined])), ...blank })
  }

  const required = (name: string) => [{ required: true, message: t('add.required', { field: name }) }]
  const count = typed.count ?? 1
  const chosenNetworks = (typed.networks ?? []).flatMap((one) => (one?.network_id === undefined || one.network_id === null ? [] : [one.network_id]))
  const chosen = image ?? snapshot ?? volume
  const missing = [
    ...(chosen === undefined ? [t(`add.${type}`)] : []),
    ...(flavor === undefined ? [t('field.flavor')] : []),
    ...((typed.networks ?? []).length > chosenNetworks.length ? [t('add.networks')] : []),
    ...((typed.name ?? '').trim() === '' ? [t('field.name')] : []),
  ]
  return (
    <Form<InstanceTyped>
      noValidate
      form={form}
      layout="vertical"
      className="zs-add"
      initialValues={beginning}
      onValuesChange={() => writeDraft(sessionStorage, userId, cloudId, form.getFieldsValue(true) as InstanceTyped)}
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

        <Step id="source" title={t('add.step.source')}>
          <RadioField name={['source', 'type']} label={t('add.fromLabel')} values={sourceTypes} labelOf={(value) => t(`add.from.${value}`)} />
          {type === 'image' && (
            <>
              <Form.Item name={['source', 'image_id']} label={t('add.image')} rules={required(t('add.image'))} required>
                <CloudSelect
                  call={computeImages.list}
                  cloudId={cloudId}
                  label={t('add.image')}
                  choiceOf={imageChoice}
                  only={isUsable}
                  none={t('add.imageNone')}
                />
              </Form.Item>
              <CheckField name={['source', 'on_volume']} text={t('add.rootVolume')} extra={t('add.rootVolumeNote')} />
            </>
          )}
          {type === 'volume' && (
            <>
              <Form.Item name={['source', 'volume_id']} label={t('add.volume')} rules={required(t('add.volume'))} required>
                <CloudSelect
                  call={computeVolumes.list}
                  cloudId={cloudId}
                  label={t('add.volume')}
                  choiceOf={volumeChoice}
                  only={({ status, bootable }) => bootable && status === 'available'}
                  none={t('add.volumeNone')}
                />
              </Form.Item>
              <CheckField name={['source', 'delete_on_termination']} text={t('add.keepRoot')} />
            </>
          )}
          {type === 'snapshot' && (
            <Form.Item name={['source', 'snapshot_id']} label={t('add.snapshot')} rules={required(t('add.snapshot'))} required>
              <CloudSelect
                call={computeVolumeSnapshots.list}
                cloudId={cloudId}
                label={t('add.snapshot')}
                choiceOf={({ id, name, size_bytes }) => ({ id, name, note: format.bytes(size_bytes) })}
                only={({ status }) => status === 'available'}
                none={t('add.snapshotNone')}
              />
            </Form.Item>
          )}
          {((type === 'image' && typed.source?.on_volume === true) || type === 'snapshot') && (
            <div className="ci-line">
              <Form.Item
                name={['source', 'disk', 'size_bytes']}
                label={t('add.rootSize')}
                extra={t('add.rootSizeNote', { size: format.bytes(least) })}
                required={type === 'image'}
                rules={[
                  ...(type === 'image' ? required(t('add.rootSize')) : []),
                  diskRule,
                  refusing((bytes: number | null | undefined) => (bytes ?? least) < least && t('add.rootSizeNote', { size: format.bytes(least) })),
                ]}
              >
                <GibInput wide label={t('add.rootSize')} />
              </Form.Item>
              {type === 'image' && (
                <Form.Item name={['source', 'disk', 'volume_type']} label={t('add.rootType')}>
                  <TypeSelect cloudId={cloudId} label={t('add.rootType')} />
                </Form.Item>
              )}
              <Form.Item name={['source', 'disk', 'delete_on_termination']} valuePropName="checked" className="ci-line-narrow ci-line-end">
                <Checkbox>{t('add.keepRoot')}</Checkbox>
              </Form.Item>
            </div>
          )}
        </Step>

        <Step id="size" title={t('add.step.size')}>
          <Form.Item name="flavor_id" label={t('field.flavor')} rules={required(t('field.flavor'))} required>
            <FlavorPicker
              cloudId={cloudId}
              ownDisk={hasOwnDisk(typed)}
              off={(one) =>
                image !== undefined &&
                (one.memory_bytes < image.min_memory_bytes || (one.disk_bytes > 0 && typed.source?.on_volume !== true && one.disk_bytes < image.min_disk_bytes))
                  ? t('add.tooSmall', { memory: format.bytes(image.min_memory_bytes), disk: format.bytes(image.min_disk_bytes) })
                  : // Of one: how many it is to be is typed later.
                    shortReason({ instances: 1, cores: one.vcpus, memory_bytes: one.memory_bytes })
              }
            />
          </Form.Item>
          <Form.List name="disks">
            {(rows, { add, remove }) => (
              <>
                {rows.map((row, at) => (
                  <div key={row.key} className="ci-line" role="group" aria-label={t('add.disk', { number: at + 1 })}>
                    <Form.Item
                      name={[row.name, 'size_bytes']}
                      label={t('add.disk', { number: at + 1 })}
                      rules={[...required(t('add.diskSize')), diskRule]}
                      required
                    >
                      <GibInput wide label={`${t('add.disk', { number: at + 1 })} ${t('add.diskSize')}`} />
                    </Form.Item>
                    <Form.Item name={[row.name, 'volume_type']} label={t('add.diskType')}>
                      <TypeSelect cloudId={cloudId} label={`${t('add.disk', { number: at + 1 })} ${t('add.diskType')}`} />
                    </Form.Item>
                    <Form.Item name={[row.name, 'delete_on_termination']} valuePropName="checked" className="ci-line-narrow ci-line-end">
                      <Checkbox>{t('add.diskWith')}</Checkbox>
                    </Form.Item>
                    <Form.Item className="ci-line-narrow ci-line-end">
                      <Button type="text" icon={<CloseOutlined />} aria-label={t('add.diskRemove', { number: at + 1 })} onClick={() => remove(row.name)} />
                    </Form.Item>
                  </div>
                ))}
                <Button
                  icon={<PlusOutlined aria-hidden />}
                  disabled={rows.length >= 20}
                  onClick={() => add({ size_bytes: 10 * 2 ** 30, volume_type: null, delete_on_termination: true })}
                >
                  {t('add.diskAdd')}
                </Button>
              </>
            )}
          </Form.List>
        </Step>

        <Step id="network" title={t('add.step.network')}>
          <Form.List name="networks">
            {(rows, { add, remove }) => (
              <>
                {rows.map((row, at) => (
                  <div key={row.key} className="ci-line" role="group" aria-label={t('add.network', { number: at + 1 })}>
                    <Form.Item name={[row.name, 'network_id']} label={t('add.network', { number: at + 1 })} rules={required(t('add.networks'))} required>
                      <CloudSelect
                        call={computeNetworks.list}
                        cloudId={cloudId}
                        label={t('add.network', { number: at + 1 })}
                        choiceOf={networkChoice}
                        only={isJoinable(null)}
                        none={t('add.networkNone')}
                      />
                    </Form.Item>
                    <Field name={[row.name, 'address']} label={t('add.address')} schema={shape.networks.element.shape.address}>
                      <Input placeholder={t('add.addressNote')} autoComplete="off" aria-label={`${t('add.network', { number: at + 1 })} ${t('add.address')}`} />
                    </Field>
                    <Form.Item className="ci-line-narrow ci-line-end">
                      <Button type="text" icon={<CloseOutlined />} aria-label={t('add.networkRemove', { number: at + 1 })} onClick={() => remove(row.name)} />
                    </Form.Item>
                  </div>
                ))}
                {rows.length === 0 && <p className="zs-soft">{t('add.noNetwork')}</p>}
                <Form.Item>
                  <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= 16} onClick={() => add({})}>
                    {t('add.networkAdd')}
                  </Button>
                </Form.Item>
              </>
            )}
          </Form.List>
          <Form.Item name="security_group_ids" label={t('add.groups')} extra={t('add.groupsNote')}>
            <CloudSelectMany
              call={computeSecurityGroups.list}
              cloudId={cloudId}
              label={t('add.groups')}
              choiceOf={({ id, name, description }) => ({ id, name, note: description })}
              most={20}
            />
          </Form.Item>
        </Step>

        <Step id="access" title={t('add.step.access')}>
          <div className="ci-line">
            <Form.Item name="key_pair_id" label={t('add.key')} extra={t('add.keyNote')}>
              <SearchSelect call={keyPairs.list} rows={({ items }) => items} nameOf={({ name }) => name} label={t('add.key')} placeholder={t('add.choose')} />
            </Form.Item>
            <Form.Item className="ci-line-narrow ci-line-end">
              <KeyPairMake onMade={(id) => form.setFieldValue('key_pair_id', id)} />
            </Form.Item>
          </div>
          <Field name="password" label={t('add.password')} extra={t('add.passwordNote')} validateTrigger="onBlur" schema={shape.password}>
            <Input.Password autoComplete="new-password" className="zs-field" />
          </Field>
          <Field
            name="user_data"
            label={t('add.userData')}
            extra={t('add.userDataNote', { limit: format.bytes(userDataBytes), used: format.bytes(new Blob([typed.user_data ?? '']).size) })}
            validateTrigger="onBlur"
            schema={shape.user_data}
          >
            <Input.TextArea rows={6} spellCheck={false} placeholder={'#cloud-config\npackages:\n  - nginx'} className="zs-code zs-field" />
          </Field>
        </Step>

        <Step id="more" title={t('add.step.more')}>
          <Form.Item name="zone" label={t('add.zone')}>
            <ZoneSelect cloudId={cloudId} />
          </Form.Item>
          <div className="ci-line">
            <Form.Item name="server_group_id" label={t('add.serverGroup')}>
              <CloudSelect
                call={serverGroups.list}
                cloudId={cloudId}
                label={t('add.serverGroup')}
                choiceOf={({ id, name, policy }) => ({ id, name, note: t(`add.policyOf.${policy as 'affinity'}`, { defaultValue: policy }) })}
                placeholder={t('add.serverGroupNone')}
                allowClear
              />
            </Form.Item>
            <Form.Item className="ci-line-narrow ci-line-end">
              <div className="zs-panel-buttons">
                <ServerGroupMake cloudId={cloudId} projectId={typed.project_id ?? null} onMade={(id) => form.setFieldValue('server_group_id', id)} />
                <ServerGroupsManage cloudId={cloudId} onDeleted={(id) => typed.server_group_id === id && form.setFieldValue('server_group_id', null)} />
              </div>
            </Form.Item>
          </div>
          <ProjectField />
          <h3 className="zs-heading">{t('tags.metadata')}</h3>
          <p className="zs-soft">{t('tags.metadataNote')}</p>
          <Pairs name="metadata" />
          <h3 className="zs-heading">{t('tags.tags')}</h3>
          <p className="zs-soft">{t('tags.tagsNote')}</p>
          <TagsField label={t('tags.tags')} />
        </Step>

        <Step id="name" title={t('add.step.name')}>
          <TextField name="name" label={t('field.name')} schema={shape.name} className="zs-field" />
          <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={2} showCount className="zs-field" />
          <NumberField name="count" label={t('add.count')} extra={t('add.countNote', { most: countMost })} schema={shape.count} />
        </Step>
      </div>

      <aside className="zs-add-side" aria-label={t('add.summary')}>
        <div className="zs-card">
          <h2 className="zs-heading">{t('add.summary')}</h2>
          <AddSummary
            typed={typed}
            least={least}
            cloud={cloud.name}
            source={chosen === undefined ? undefined : chosen.name === '' ? chosen.id : chosen.name}
            flavor={flavor}
            networks={chosenNetworks.map((id) => networks?.find((one) => one.id === id)?.name ?? id)}
          />
          <QuotaWarning cloudId={cloudId} place={{ project_id: typed.project_id ?? null }} wants={wantsOf(typed, flavor, least)} />
          <div aria-live="polite">
            {refused !== null && <Alert type="error" showIcon className="zs-above" title={refused} />}
            {missing.length > 0 && <p className="zs-soft">{t('add.missing', { fields: missing.join('、') })}</p>}
          </div>
          <Button type="primary" htmlType="submit" block size="large" loading={create.isPending} disabled={cloud.status !== 'active'}>
            {count > 1 ? t('add.submitMany', { count }) : t('add.submit')}
          </Button>
          <Button type="text" block onClick={() => void navigate(paths.compute.instance.list())}>
            {t('add.cancel')}
          </Button>
        </div>
      </aside>
    </Form>
  )
}

/** What the form begins with: what another page led here with, else what was typed before. */
function began(draft: InstanceTyped | null, search: URLSearchParams): InstanceTyped {
  const typed = { ...blank, ...draft }
  for (const type of sourceTypes) {
    const id = search.get(type)
    if (id !== null) return { ...typed, source: { ...blank.source, ...draft?.source, type, [`${type}_id`]: id } }
  }
  return typed
}

function Step({ id, title, children }: { readonly id: string; readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="zs-card" aria-labelledby={`step-${id}`}>
      <h2 className="zs-heading" id={`step-${id}`}>
        {title}
      </h2>
      {children}
    </section>
  )
}

/** Volume types are named by their names. */
function TypeSelect({ cloudId, label, ...control }: Controlled<string | null, { cloudId: string; label: string }>) {
  const { t } = useTranslation('computeInstance')
  return (
    <CloudSelect
      {...control}
      call={computeVolumeTypes.list}
      cloudId={cloudId}
      label={label}
      choiceOf={({ name, description }) => ({ id: name, name, note: description })}
      placeholder={t('add.typeDefault')}
      allowClear
    />
  )
}

function ZoneSelect({ cloudId, value, onChange, id }: Controlled<string | null, { cloudId: string }>) {
  const { t } = useTranslation('computeInstance')
  const { data, error, isPending, refetch } = useCall(availabilityZones.list, { params: { cloud_id: cloudId } }, { silent: true })
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <Select<string>
      {...(id !== undefined && { id })}
      aria-label={t('add.zone')}
      className="zs-field"
      style={{ width: '100%' }}
      allowClear
      loading={isPending}
      placeholder={t('add.zoneAny')}
      options={(data?.items ?? []).map(({ name, available }) => ({ value: name, label: name, disabled: !available }))}
      value={value ?? null}
      onChange={(next: string | undefined) => onChange?.(next ?? null)}
    />
  )
}
