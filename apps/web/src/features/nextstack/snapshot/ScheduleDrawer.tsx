import Alert from 'antd/es/alert'
import AutoComplete from 'antd/es/auto-complete'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { snapshotRhythms, snapshotSchedules, type SnapshotSchedule } from '@zhisuan/contract/nextstack/snapshot'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useMemo, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { Field, SwitchField, TextField } from '../../../kit/fields.tsx'
import { LeaveDialog } from '../../../kit/LeaveDialog.tsx'
import type { ApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import * as format from '../../../kit/format.ts'
import { DescriptionField } from '../../../kit/NameFields.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { showFieldErrors } from '../../../kit/rules.ts'
import { bodyOf, ownZone, valuesOf, zonesWith, type ScheduleValues } from './scheduleForm.ts'
import './snapshot.css'
import { invalidatedBySchedule, weekdays, whenText } from './snapshotRules.ts'
import { SnapshotPrice } from './SnapshotPrice.tsx'
import { VmChoice } from './VmChoice.tsx'
import '../../../kit/form.css'

const { shape } = snapshotSchedules.update.body
const timeOfDay = shape.at.refine((at) => at.includes(':'), fieldTexts.scheduleAt)
/** To choose from; any other can be typed. */
const times = Array.from({ length: 48 }, (_, half) => ({ value: `${String(Math.floor(half / 2)).padStart(2, '0')}:${half % 2 === 0 ? '00' : '30'}` }))

/** Makes a schedule, or with one changes it. @param vm of what; null lets the person choose */
export function ScheduleDrawer({
  cloudId,
  vm,
  schedule,
  onClose,
}: {
  readonly cloudId: string
  readonly vm: { readonly id: string; readonly name: string } | null
  readonly schedule: SnapshotSchedule | null
  readonly onClose: () => void
}) {
  const { t } = useTranslation('snapshot')
  const { t: kit } = useTranslation('kit')
  const [form] = Form.useForm<ScheduleValues>()
  const [initial] = useState(() => valuesOf(schedule, t('schedule.rhythm.daily'), ownZone()))
  const values = Form.useWatch((all: ScheduleValues) => all, form) ?? initial
  const [dirty, setDirty] = useState(false)
  const [named, setNamed] = useState(schedule !== null)
  const [leaving, setLeaving] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const create = useChange(snapshotSchedules.create, { invalidates: invalidatedBySchedule, silent: true })
  const update = useChange(snapshotSchedules.update, { invalidates: invalidatedBySchedule, silent: true })
  const zones = useMemo(() => zonesWith(initial.time_zone).map((zone) => ({ value: zone, label: zone })), [initial.time_zone])
  const onValues = ({ rhythm, name }: Partial<ScheduleValues>): void => {
    setDirty(true)
    if (name !== undefined) setNamed(true)
    // The suggested name says what it does, until the person gives it another.
    if (rhythm !== undefined && !named) form.setFieldValue('name', t(`schedule.rhythm.${rhythm}`))
  }
  const close = (): void => (dirty ? setLeaving(true) : onClose())

  const submit = (all: ScheduleValues): void => {
    setRefused(null)
    const { vm_id, ...own } = all
    const body = bodyOf(own)
    const outcome = {
      onSuccess: () => {
        notify('success', t(schedule === null ? 'schedule.created' : 'schedule.saved', { name: body.name }))
        onClose()
      },
      onError: (error: ApiError) => {
        // One field of the API, two of the form.
        const fields = error.fields.map((one) => (one.field === 'at' ? { ...one, field: all.rhythm === 'hourly' ? 'minute' : 'time' } : one))
        const unplaced = showFieldErrors(form, fields)
        if (unplaced.length > 0 || fields.length === 0) setRefused([...new Set([errorText(error), ...unplaced.map(({ message }) => message)])].join('；'))
      },
    }
    if (schedule === null) create.mutate({ body: { ...body, vm_id: vm?.id ?? vm_id ?? '' } }, outcome)
    else update.mutate({ params: { id: schedule.id }, body }, outcome)
  }

  return (
    <Drawer
      open
      size={560}
      title={schedule === null ? t('schedule.create') : t('schedule.edit', { name: schedule.name })}
      mask={{ closable: !dirty }}
      onClose={close}
      footer={
        <div className="sn-foot">
          <Summary values={values} next={dirty ? null : (schedule?.next_run_at ?? null)} />
          <div className="zs-form-foot">
            <Button type="primary" loading={create.isPending || update.isPending} onClick={form.submit}>
              {schedule === null ? t('schedule.create') : t('schedule.ok')}
            </Button>
            <Button onClick={close}>{kit('form.cancel')}</Button>
          </div>
        </div>
      }
    >
      <Form<ScheduleValues>
        noValidate
        form={form}
        layout="vertical"
        initialValues={initial}
        onValuesChange={onValues}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        {refused !== null && <Alert type="error" showIcon className="zs-above" title={refused} />}
        {vm === null ? (
          <Field name="vm_id" label={t('field.vm')} missing={t('field.vmRequired')}>
            <VmChoice cloudId={cloudId} any />
          </Field>
        ) : (
          <p className="sn-of">
            {t('field.vm')}：<strong>{vm.name}</strong>
          </p>
        )}
        <TextField name="name" label={t('field.name')} schema={shape.name} autoFocus />
        <Form.Item name="rhythm" label={t('schedule.field.rhythm')} extra={t('schedule.missed')}>
          <Radio.Group optionType="button" options={snapshotRhythms.map((value) => ({ value, label: t(`schedule.rhythm.${value}`) }))} />
        </Form.Item>
        {values.rhythm === 'weekly' && (
          <Form.Item name="weekday" label={t('schedule.field.weekday')}>
            <Radio.Group optionType="button" options={weekdays.map((day, index) => ({ value: index + 1, label: t(`schedule.weekday.${day}`) }))} />
          </Form.Item>
        )}
        {values.rhythm === 'hourly' ? (
          <NumberField
            name="minute"
            label={t('schedule.field.minute')}
            missing={fieldTexts.scheduleAt}
            min={0}
            max={59}
            suffix={t('schedule.field.minuteUnit')}
            className="sn-number"
          />
        ) : (
          <Field name="time" label={t('schedule.field.time')} extra={t('schedule.field.timeNote')} schema={timeOfDay} required>
            <AutoComplete className="sn-number" options={times} filterOption={(typed, time) => time?.value.startsWith(typed) === true} />
          </Field>
        )}
        <SelectField name="time_zone" label={t('schedule.field.zone')} extra={t('schedule.field.zoneNote')} showSearch options={zones} className="sn-zone" />
        <NumberField
          name="keep"
          label={t('schedule.field.keep')}
          extra={t('schedule.field.keepNote')}
          missing={fieldTexts.scheduleKeep}
          min={1}
          max={100}
          suffix={t('schedule.field.keepUnit')}
          className="sn-number"
        />
        <SnapshotPrice cloudId={cloudId} bytes={null} />
        <DescriptionField schema={shape.description} />
        <SwitchField name="enabled" label={t('schedule.field.enabled')} />
      </Form>
      <LeaveDialog open={leaving} onLeave={onClose} onStay={() => setLeaving(false)} />
    </Drawer>
  )
}

/** What the schedule will do, in words. */
function Summary({ values, next }: { readonly values: ScheduleValues; readonly next: string | null }) {
  const { t } = useTranslation('snapshot')
  if (!values.enabled) return <Alert type="warning" showIcon title={t('schedule.summaryOff')} />
  const { at, weekday } = bodyOf(values)
  // Half filled in: there is nothing to sum up yet.
  if (!shape.at.safeParse(at).success || values.keep === null) return null
  const when = whenText(t, { rhythm: values.rhythm, at, weekday: weekday ?? null })
  return (
    <Alert
      type="info"
      showIcon
      aria-live="polite"
      title={
        <>
          {t('schedule.summary', { when, zone: values.time_zone, count: values.keep })}
          {next !== null && <div className="zs-soft">{t('schedule.nextRun', { time: format.dateTime(next) })}</div>}
        </>
      }
    />
  )
}
