import CalendarOutlined from '@ant-design/icons/es/icons/CalendarOutlined'
import DatePicker from 'antd/es/date-picker'
import dayjs, { type Dayjs } from 'dayjs'
import type { FocusEvent } from 'react'
// Months and days of the week; everything else of the picker's is in antd's own locale.
import 'dayjs/locale/zh-cn'
import { clearable } from './clearable.tsx'
import type { Controlled } from './fields.tsx'

const day = 'YYYY-MM-DD'
const second = `${day} HH:mm:ss`
/** What is shown is the first; whoever types may leave out what is 0. */
const moments = [second, `${day} HH:mm`, day]

const look = { allowClear: clearable, suffixIcon: <CalendarOutlined aria-hidden /> }

/** What an address or a form holds may be no moment at all. */
const read = (text: string): Dayjs | null => (dayjs(text).isValid() ? dayjs(text) : null)

/** antd puts back what was emptied by hand. */
const emptied = (value: string, onChange: ((value: string) => void) | undefined) => (event: FocusEvent) => {
  if (value !== '' && event.target instanceof HTMLInputElement && event.target.value === '') onChange?.('')
}

/** A day, `YYYY-MM-DD`, or '' for none: chosen or typed. */
export function DayInput({ id, value = '', onChange, min = '', max = '' }: Controlled<string, { min?: string | undefined; max?: string | undefined }>) {
  const [minDate, maxDate] = [read(min), read(max)]
  return (
    <DatePicker
      {...look}
      {...(id !== undefined && { id })}
      {...(minDate !== null && { minDate })}
      {...(maxDate !== null && { maxDate })}
      format={day}
      value={read(value)}
      onChange={(chosen: Dayjs | null) => onChange?.(chosen?.format(day) ?? '')}
      onBlur={emptied(value, onChange)}
    />
  )
}

/** A moment in the person's own zone, held as ISO 8601, or '' for none: chosen or typed. */
export function MomentInput({ id, value = '', onChange }: Controlled<string>) {
  return (
    <DatePicker
      {...look}
      {...(id !== undefined && { id })}
      showTime
      // Kept when it is left: who has typed a moment needs not press a button of the calendar.
      needConfirm={false}
      format={moments}
      value={read(value)}
      onChange={(chosen: Dayjs | null) => onChange?.(chosen?.toISOString() ?? '')}
      onBlur={emptied(value, onChange)}
    />
  )
}
