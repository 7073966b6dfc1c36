import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { quotaTexts } from '@zhisuan/contract/texts'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import * as format from '../../../kit/format.ts'
import { flavorItems, vmItems } from '../../../kit/price/items.ts'
import { PriceChange } from '../../../kit/price/Price.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { amountText } from '../../../kit/quotaLines.ts'
import { useCurrentUser } from '../../../session/user.ts'
import { DiskUnlimited } from './DiskUnlimited.tsx'
import { diskRule } from './diskRule.ts'
import { DiskInput } from './DiskInput.tsx'
import { FlavorPicker, useFlavors } from './FlavorPicker.tsx'
import { quotaLeft, resizeBeyondQuota } from './flavorQuota.ts'
import { diskFor } from './vmForm.ts'
import { invalidatedByVm } from './vmRules.ts'
import { sizeText } from './vmColumns.tsx'

interface Values {
  flavor_id: string
  disk_bytes: number
}

/** Another flavor, a larger disk, or both. */
export function ResizeDialog({ vm, onClose }: Dialog<{ vm: Vm }>) {
  const { t } = useTranslation('nextstack')
  const [form] = Form.useForm<Values>()
  const place = { vm_id: vm.id }
  const flavors = useFlavors(place).data?.items ?? []
  const [typedDisk, setTypedDisk] = useState<number | null>(null)
  // The quota is its owner's: of another's the server judges.
  const own = useCurrentUser()?.bp_id === vm.bp_id && vm.bp_id !== null
  const left = quotaLeft(useCall(quotas.mine, {}, { enabled: own, silent: true }).data?.lines ?? [])
  const chosenId = Form.useWatch('flavor_id', form)
  const diskBytes = Form.useWatch('disk_bytes', form)
  const chosen = flavors.find(({ id }) => id === chosenId)
  const current = flavors.find(({ id }) => id === vm.flavor.id)
  // One that may not be chosen any more is not known: then the server judges.
  const sameGpus = ({ gpu }: Flavor): boolean => current === undefined || JSON.stringify(gpu) === JSON.stringify(current.gpu)
  const minBytes = Math.max(vm.disk_bytes, chosen?.disk_bytes ?? 0)
  const same =
    chosen !== undefined && chosen.cpu_cores === vm.cpu_cores && chosen.memory_bytes === vm.memory_bytes && (diskBytes ?? vm.disk_bytes) === vm.disk_bytes
  const offReason = (flavor: Flavor): string | null => {
    if (!sameGpus(flavor)) return t('resize.otherGpus')
    const over = resizeBeyondQuota(vm, flavor, left)
    return over === null ? null : t('add.flavorBeyond', { resource: quotaTexts[over.resource], left: amountText(over.resource, over.left) })
  }
  const resize = useChange(vms.resize, { invalidates: invalidatedByVm })

  return (
    <FormDialog<Values>
      form={form}
      width={680}
      title={t('resize.title', { name: vm.name })}
      okText={t('resize.ok')}
      okDisabled={chosen === undefined || same}
      initialValues={{ ...(vm.flavor.id !== null && { flavor_id: vm.flavor.id }), disk_bytes: vm.disk_bytes }}
      doneText={t('done.resize', { name: vm.name })}
      onClose={onClose}
      onSubmit={(body) => resize.mutateAsync({ params: { id: vm.id }, body })}
      onValuesChange={(changed) => {
        if ('disk_bytes' in changed) setTypedDisk(changed.disk_bytes ?? null)
        if (changed.flavor_id === undefined) return
        form.setFieldValue(
          'disk_bytes',
          diskFor(
            flavors.find(({ id }) => id === changed.flavor_id),
            typedDisk,
            vm.disk_bytes,
          ),
        )
      }}
    >
      <p>
        {t('resize.now')}：{vm.flavor.name}（{sizeText(t, vm)}）
      </p>
      <Form.Item name="flavor_id" label={t('resize.flavor')} required>
        <FlavorPicker off={offReason} place={place} diskOf={(flavor) => diskFor(flavor, typedDisk, vm.disk_bytes)} bpId={vm.bp_id} />
      </Form.Item>
      <Form.Item
        name="disk_bytes"
        label={t('resize.disk')}
        extra={
          <>
            {t('resize.diskNote', { disk: format.bytes(vm.disk_bytes) })}
            <DiskUnlimited cloudId={vm.cloud_id} type={vm.type} />
          </>
        }
        rules={[diskRule(t, minBytes)]}
      >
        <DiskInput minBytes={minBytes} />
      </Form.Item>
      <PriceChange now={vmItems(vm)} then={chosen === undefined ? vmItems(vm) : flavorItems(chosen, diskBytes ?? vm.disk_bytes)} bpId={vm.bp_id} />
      <Alert type="info" showIcon title={same ? t('resize.same') : t('resize.note')} />
      {(diskBytes ?? 0) > vm.disk_bytes && (
        <Alert type="warning" showIcon title={t('resize.grows', { from: format.bytes(vm.disk_bytes), to: format.bytes(diskBytes ?? 0) })} />
      )}
    </FormDialog>
  )
}
