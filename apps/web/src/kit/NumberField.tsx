import { Field, parted, type With } from './fields.tsx'
import { NumberInput } from './NumberInput.tsx'
import { limitsOf, wholeBetween } from './rules.ts'
import type { ComponentProps } from 'react'

/** A number as its schema says; without one a whole number, between `min` and `max`. Any other is refused by the field's rules. */
export function NumberField({ min, max, ...props }: With<ComponentProps<typeof NumberInput>>) {
  const [field, control] = parted(props)
  const ends = { ...limitsOf(props.schema), ...(min !== undefined && { min: Number(min) }), ...(max !== undefined && { max: Number(max) }) }
  return (
    <Field validateFirst {...field} {...(props.schema === undefined && { rules: [wholeBetween(ends), ...(props.rules ?? [])] })}>
      <NumberInput {...ends} {...control} />
    </Field>
  )
}
