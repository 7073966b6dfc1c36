import Input from 'antd/es/input'
import dayjs from 'dayjs'

/** A moment in the person's own zone; a control of a form that holds ISO 8601, or '' for none. */
export function MomentInput({ value, onChange, ...control }: { readonly id?: string; readonly value?: string; readonly onChange?: (moment: string) => void }) {
  return (
    <Input
      {...control}
      type="datetime-local"
      step={1}
      value={value === undefined || value === '' ? '' : dayjs(value).format('YYYY-MM-DDTHH:mm:ss')}
      onChange={({ target }) => onChange?.(target.value === '' ? '' : dayjs(target.value).toISOString())}
    />
  )
}
