import Checkbox, { type CheckboxProps } from 'antd/es/checkbox'
import Form, { type FormItemProps } from 'antd/es/form'
import Input, { type InputProps, type PasswordProps, type TextAreaProps } from 'antd/es/input'
import Radio, { type RadioGroupProps } from 'antd/es/radio'
import Switch, { type SwitchProps } from 'antd/es/switch'
import type { ComponentType, ReactNode } from 'react'
import type { z } from 'zod'
import { yuanSign } from './format.ts'
import { limitsOf, refusing, rulesOf } from './rules.ts'

const ofItem = ['name', 'label', 'extra', 'required', 'rules', 'validateTrigger', 'validateFirst', 'dependencies', 'preserve', 'layout', 'noStyle'] as const

/** What a field of a form is, whatever it is filled in with: props of antd's Form.Item, and where its rules are from. */
export interface FieldProps extends Pick<FormItemProps, (typeof ofItem)[number]> {
  /** The contract's schema of it: its rules, and whether it must be given unless `required` says so. */
  readonly schema?: z.ZodType | undefined
  /** It must be given; this is said where it is not. */
  readonly missing?: string
}

/** A field around a control of its own. Kinds that come often are below; those with more of antd in them lie beside. */
export function Field({
  schema,
  missing,
  rules = [],
  required = schema && !schema.safeParse(undefined).success,
  extra,
  children,
  ...item
}: FieldProps & Pick<FormItemProps, 'className' | 'valuePropName'> & { readonly children: ReactNode }) {
  return (
    <Form.Item
      {...item}
      {...(required !== undefined && { required })}
      // Only words give way to what is wrong (see classes.css): a link is still needed.
      {...(extra !== undefined && { extra: typeof extra === 'string' && extra !== '' ? <span className="zs-hint">{extra}</span> : extra })}
      rules={[...(missing === undefined ? [] : [{ required: true, message: missing }]), ...(schema === undefined ? [] : rulesOf(schema)), ...rules]}
    >
      {children}
    </Form.Item>
  )
}

/** Props of a control of ours: its own, and what a form gives it. */
export type Controlled<Value, Own = unknown> = Readonly<Own> & {
  readonly id?: string
  readonly value?: Value
  readonly onChange?: (value: Value) => void
}

/** Props of a kind of field: those of the field, and those of its control but for what the form gives it. */
export type With<Control> = FieldProps & Omit<Control, keyof FieldProps | 'id' | 'value' | 'defaultValue' | 'checked' | 'defaultChecked'>

const ofField: ReadonlySet<string> = new Set([...ofItem, 'schema', 'missing'])

/** Parts them again. */
export function parted<Props extends FieldProps>(props: Props): [field: FieldProps, control: Omit<Props, keyof FieldProps>] {
  const pick = (isField: boolean) => Object.fromEntries(Object.entries(props).filter(([key]) => ofField.has(key) === isField))
  return [pick(true), pick(false) as Omit<Props, keyof FieldProps>]
}

/** What a control that says itself what it is called is in a form: a field whose label is its name. */
export function labelled<Control extends { readonly label: string }>(Inner: ComponentType<Control>) {
  return function LabelledField(props: FieldProps & Pick<Control, 'label'> & Omit<Control, 'label' | 'id' | 'value' | 'onChange'>) {
    const [field, control] = parted(props)
    // Its own props are what the field leaves, its label, and what the form gives.
    const own = { ...control, label: props.label } as unknown as Control
    return (
      <Field {...field}>
        <Inner {...own} />
      </Field>
    )
  }
}

interface Code {
  /** An address, an identifier: what is read letter by letter. */
  readonly code?: boolean
}
const codeProps = { className: 'zs-code', spellCheck: false }

/** Props of a field that is typed into. It takes no length: what was pasted too long would be cut off unsaid, and rules refuse it instead. */
type Typed<Control> = With<Omit<Control, 'maxLength' | 'count' | 'showCount'>>

/** A line of text. */
export function TextField({ code = false, ...props }: Typed<InputProps> & Code) {
  const [field, control] = parted(props)
  return (
    <Field {...field}>
      <Input autoComplete="off" {...(code && codeProps)} {...control} />
    </Field>
  )
}

/** Text of several lines; with `showCount` it says how long it is, and may be by its schema. */
export function TextAreaField({ code = false, showCount = false, ...props }: Typed<TextAreaProps> & Code & { readonly showCount?: boolean }) {
  const [field, control] = parted(props)
  const { maxLength: max } = limitsOf(props.schema)
  return (
    <Field {...field}>
      <Input.TextArea {...(showCount && { showCount, ...(max !== undefined && { count: { max } }) })} {...(code && codeProps)} {...control} />
    </Field>
  )
}

/** An amount of money, or what of it one unit costs. */
export const MoneyField = (props: Typed<InputProps>) => <TextField prefix={yuanSign} inputMode="decimal" {...props} />

/** What nobody shall read over a shoulder. */
export function PasswordField(props: Typed<PasswordProps>) {
  const [field, control] = parted(props)
  return (
    <Field {...field}>
      <Input.Password autoComplete="new-password" {...control} />
    </Field>
  )
}

/** Yes or no, with its text beside the box; where it is `missing`, only yes will do. */
export function CheckField({ text, missing, ...props }: With<CheckboxProps> & { readonly text: ReactNode }) {
  const [field, control] = parted(props)
  return (
    <Field
      valuePropName="checked"
      {...field}
      {...(missing !== undefined && { rules: [refusing((checked: unknown) => checked !== true && missing), ...(field.rules ?? [])] })}
    >
      <Checkbox {...control}>{text}</Checkbox>
    </Field>
  )
}

/** On or off. */
export function SwitchField(props: With<SwitchProps>) {
  const [field, control] = parted(props)
  return (
    <Field valuePropName="checked" {...field}>
      <Switch {...control} />
    </Field>
  )
}

/** What there is to choose from, where `options` do not say it. */
export interface Values<One> {
  readonly values?: readonly One[] | undefined
  /** What each is called; the values are words themselves where it is left out. */
  readonly labelOf?: ((value: One) => ReactNode) | undefined
}
/** The same as options of a control; nothing where there are no `values`. */
export const optionsOf = <One,>({ values, labelOf = String }: Values<One>) => values && { options: values.map((value) => ({ value, label: labelOf(value) })) }

/** One of a few, all of which are seen. */
export function RadioField<One extends string | number | boolean>({ values, labelOf, ...props }: With<RadioGroupProps> & Values<One>) {
  const [field, control] = parted(props)
  return (
    <Field {...field}>
      <Radio.Group {...optionsOf({ values, labelOf })} {...control} />
    </Field>
  )
}
