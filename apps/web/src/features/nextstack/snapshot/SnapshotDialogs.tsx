import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { constants } from '@zhisuan/contract/constants'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { snapshots, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { quotaTexts } from '@zhisuan/contract/texts'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { flavorItems, vmItems } from '../../../kit/price/items.ts'
import { NewPrice } from '../../../kit/price/NewPrice.tsx'
import { amountText } from '../../../kit/quotaLines.ts'
import { nameAt } from '../../../kit/nameAt.ts'
import { useCurrentUser } from '../../../session/user.ts'
import { beyondQuota, quotaLeft } from '../vm/flavorQuota.ts'
import { useFlavors } from '../vm/FlavorPicker.tsx'
import { sizeText } from '../vm/vmColumns.tsx'
import { invalidatedBySnapshot } from './snapshotRules.ts'
import { SnapshotPrice } from './SnapshotPrice.tsx'
import { VmChoice } from './VmChoice.tsx'

interface NameValues {
  name: string
  description: string
}

function NameFields({ focus = true }: { readonly focus?: boolean }) {
  const { shape } = snapshots.update.body
  return (
    <>
      <NameField schema={shape.name} focus={focus} />
      <DescriptionField schema={shape.description} />
    </>
  )
}

function useCreate() {
  const { t } = useTranslation('snapshot')
  const create = useChange(snapshots.create, { invalidates: invalidatedBySnapshot, silent: true })
  const [suggested] = useState(() => nameAt('snap', new Date()))
  return { t, create, suggested }
}

/** Makes a snapshot of an instance. */
export function SnapshotCreate({ vm, onClose }: Dialog<{ vm: Pick<Vm, 'id' | 'name' | 'cloud_id' | 'disk_bytes' | 'bp_id'> }>) {
  const { t, create, suggested } = useCreate()
  const [form] = Form.useForm<NameValues>()
  const name = Form.useWatch('name', form) ?? suggested
  return (
    <FormDialog<NameValues>
      form={form}
      title={t('create.title', { vm: vm.name })}
      okText={t('create.ok')}
      initialValues={{ name: suggested, description: '' }}
      doneText={t('done.create', { name })}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body: { vm_id: vm.id, ...body } })}
    >
      <NameFields />
      <SnapshotPrice cloudId={vm.cloud_id} bytes={vm.disk_bytes} bpId={vm.bp_id} />
      <Alert type="info" showIcon title={t('create.note')} />
    </FormDialog>
  )
}

/** Makes a snapshot of an instance of the person's choice. */
export function SnapshotCreateAny({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t, create, suggested } = useCreate()
  const [form] = Form.useForm<NameValues & { vm_id: string }>()
  const name = Form.useWatch('name', form) ?? suggested
  const vmId = Form.useWatch('vm_id', form)
  const vm = useCall(vms.get, { params: { id: vmId ?? '' } }, { enabled: vmId !== undefined, silent: true }).data
  return (
    <FormDialog<NameValues & { vm_id: string }>
      form={form}
      title={t('create.any')}
      okText={t('create.ok')}
      initialValues={{ name: suggested, description: '' }}
      doneText={t('done.create', { name })}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body })}
    >
      <Field name="vm_id" label={t('field.vm')} extra={t('field.vmNote')} missing={t('field.vmRequired')}>
        <VmChoice cloudId={cloudId} />
      </Field>
      <NameFields focus={false} />
      {vm !== undefined && <SnapshotPrice cloudId={cloudId} bytes={vm.disk_bytes} bpId={vm.bp_id} />}
      <Alert type="info" showIcon title={t('create.note')} />
    </FormDialog>
  )
}

export function SnapshotRename({ snapshot, onClose }: Dialog<{ snapshot: VmSnapshot }>) {
  const { t } = useTranslation('snapshot')
  const update = useChange(snapshots.update, { invalidates: invalidatedBySnapshot, silent: true })
  return (
    <FormDialog<NameValues>
      title={t('rename.title', { name: snapshot.name })}
      okText={t('rename.ok')}
      initialValues={{ name: snapshot.name, description: snapshot.description }}
      doneText={t('done.rename')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { id: snapshot.id }, body })}
    >
      <NameFields />
    </FormDialog>
  )
}

/** Beside the ids of private networks: what stands for the source's own, and for the cloud's. */
const same = 'same'
const ofCloud = 'cloud'

interface CloneValues extends NameValues {
  flavor_id: string
  vpc_id: string
}

/** Makes a new instance that begins as the snapshot. */
export function SnapshotClone({ snapshot, onClose }: Dialog<{ snapshot: VmSnapshot }>) {
  const { t } = useTranslation(['snapshot', 'nextstack'])
  const { t: nextstack } = useTranslation('nextstack')
  const [form] = Form.useForm<CloneValues>()
  const suggested = `${[...snapshot.vm.name].slice(0, constants.nameMaxLength - 6).join('')}-clone`
  const name = Form.useWatch('name', form) ?? suggested
  const network = Form.useWatch('vpc_id', form) ?? same
  const source = useCall(vms.get, { params: { id: snapshot.vm.id } }, { silent: true }).data
  const flavors = useFlavors({ cloud_id: snapshot.cloud_id })
  // The clone is its source's organisation's: of another's the server judges.
  const own = useCurrentUser()?.bp_id === snapshot.bp_id && snapshot.bp_id !== null
  const left = quotaLeft(useCall(quotas.mine, {}, { enabled: own, silent: true }).data?.lines ?? [])
  const offReason = (of: Flavor): string | null => {
    if (of.beyond !== null) return nextstack('add.flavorHosts', { resource: quotaTexts[of.beyond] })
    const over = beyondQuota(of, 1, left)
    return over === null ? null : nextstack('add.flavorBeyond', { resource: quotaTexts[over.resource], left: amountText(over.resource, over.left) })
  }
  const flavorId = Form.useWatch('flavor_id', form) ?? same
  const flavor = flavors.data?.items.find(({ id }) => id === (flavorId === same ? source?.flavor.id : flavorId))
  // Its disk is never smaller than the source's. A flavor that may not be chosen any more is not known: then the source tells.
  const items = source === undefined ? null : flavor === undefined ? vmItems(source) : flavorItems(flavor, Math.max(source.disk_bytes, flavor.disk_bytes))
  const networks = useCall(vpcs.list, { query: { cloud_id: snapshot.cloud_id, page_size: 1000, sort: 'name' } })
  const clone = useChange(snapshots.clone, { invalidates: invalidatedBySnapshot, silent: true })
  const vm = snapshot.vm.name
  const { shape } = snapshots.clone.body
  const plain = network === ofCloud || (network === same && source?.vpc === null)
  return (
    <FormDialog<CloneValues>
      form={form}
      title={t('clone.title', { name: snapshot.name })}
      okText={t('clone.ok')}
      initialValues={{ name: suggested, description: '', flavor_id: same, vpc_id: same }}
      doneText={t('done.clone', { name })}
      onClose={onClose}
      width={560}
      onSubmit={({ flavor_id, vpc_id, ...body }) =>
        clone.mutateAsync({
          params: { id: snapshot.id },
          body: { ...body, ...(flavor_id !== same && { flavor_id }), ...(vpc_id !== same && { vpc_id: vpc_id === ofCloud ? null : vpc_id }) },
        })
      }
    >
      <Alert type="info" showIcon className="zs-above" title={t('clone.note')} />
      <NameField schema={shape.name} />
      <SelectField
        name="flavor_id"
        label={t('field.flavor')}
        loading={flavors.isPending}
        showSearch={{ optionFilterProp: 'label' }}
        options={[
          { value: same, label: source === undefined ? t('clone.same', { vm }) : t('clone.sameFlavor', { vm, flavor: source.flavor.name }) },
          ...(flavors.data?.items ?? [])
            .filter(({ id }) => id !== source?.flavor.id)
            .toSorted((one, other) => one.cpu_cores - other.cpu_cores || one.memory_bytes - other.memory_bytes)
            .map((flavor) => {
              const label = t('clone.flavorOption', { name: flavor.name, size: sizeText(nextstack, flavor) })
              const reason = offReason(flavor)
              return { value: flavor.id, label: reason === null ? label : `${label} ${reason}`, disabled: reason !== null }
            }),
        ]}
      />
      <Form.Item name="vpc_id" label={t('field.network')} extra={plain ? t('clone.noGroups') : t('clone.groups', { vm })}>
        <Select
          loading={networks.isPending}
          showSearch={{ optionFilterProp: 'label' }}
          options={[
            {
              value: same,
              label: source === undefined ? t('clone.same', { vm }) : t('clone.sameNetwork', { vm, network: source.vpc?.name ?? source.network }),
            },
            // What belongs to others is of no use to the clone, which is its source's organisation's.
            ...(networks.data?.items ?? [])
              .filter(({ id, bp_id }) => id !== source?.vpc?.id && bp_id === snapshot.bp_id)
              .map(({ id, name: vpc, cidr }) => ({ value: id, label: t('clone.vpcOption', { name: vpc, cidr }) })),
            ...(source?.vpc === null ? [] : [{ value: ofCloud, label: t('clone.cloudNetwork') }]),
          ]}
        />
      </Form.Item>
      <DescriptionField schema={shape.description} />
      {items !== null && <NewPrice items={items} bpId={snapshot.bp_id} />}
    </FormDialog>
  )
}
