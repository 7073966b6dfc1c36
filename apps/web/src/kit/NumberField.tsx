import InputNumber, { type InputNumberProps } from 'antd/es/input-number'
import { Field, parted, type With } from './fields.tsx'
import { limitsOf } from './rules.ts'

/** A whole number, between the ends that its schema names. */
export function NumberField(props: With<InputNumberProps<number>>) {
  const [field, control] = parted(props)
  return (
    <Field {...field}>
      <InputNumber<number> precision={0} {...limitsOf(props.schema)} {...control} />
    </Field>
  )
}
