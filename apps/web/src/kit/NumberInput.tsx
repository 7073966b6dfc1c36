import InputNumber, { type InputNumberProps } from 'antd/es/input-number'

/**
 * A number that stays as it was typed: to ends and places of its own antd would set it when it is left, and say nothing.
 * What it may be is a rule's to refuse; readers hear the ends.
 */
export function NumberInput({ min, max, ...props }: Omit<InputNumberProps<number>, 'precision'>) {
  return (
    <InputNumber<number> {...(min !== undefined && { 'aria-valuemin': Number(min) })} {...(max !== undefined && { 'aria-valuemax': Number(max) })} {...props} />
  )
}
