import Select, { type SelectProps } from 'antd/es/select'
import { Field, optionsOf, parted, type Values, type With } from './fields.tsx'

/** One of a list, or some of it. */
export function SelectField<Value = unknown, One extends string | number = string>({ values, labelOf, ...props }: With<SelectProps<Value>> & Values<One>) {
  const [field, control] = parted(props)
  return (
    <Field {...field}>
      <Select<Value> {...optionsOf({ values, labelOf })} {...control} />
    </Field>
  )
}
