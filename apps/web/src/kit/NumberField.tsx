import InputNumber, { type InputNumberProps } from 'antd/es/input-number'
import { Field, parted, type With } from './fields.tsx'
import { limitsOf, wholeBetween } from './rules.ts'

/**
 * A number as its schema says; without one a whole number, between `min` and `max`. Any other is refused by the field's
 * rules and stays as it was typed: antd would round it, or set it to the end that is nearest, and say nothing. Readers hear
 * the ends.
 */
export function NumberField({ min, max, ...props }: With<InputNumberProps<number>>) {
  const [field, control] = parted(props)
  const ends = { ...limitsOf(props.schema), ...(min !== undefined && { min: Number(min) }), ...(max !== undefined && { max: Number(max) }) }
  return (
    <Field validateFirst {...field} {...(props.schema === undefined && { rules: [wholeBetween(ends), ...(props.rules ?? [])] })}>
      <InputNumber<number>
        {...(ends.min !== undefined && { 'aria-valuemin': ends.min })}
        {...(ends.max !== undefined && { 'aria-valuemax': ends.max })}
        {...control}
      />
    </Field>
  )
}
