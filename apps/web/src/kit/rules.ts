import { fieldTexts, limitTexts } from '@zhisuan/contract/texts'
import type { FormInstance, Rule, RuleObject } from 'antd/es/form'
import type { z } from 'zod'
import type { FieldError } from '../api/client.ts'

/** A cleared input holds '', which an optional schema means by undefined, and a nullable one by null. */
function given(schema: z.ZodType, value: unknown): unknown {
  if (value !== '') return value
  if (schema.safeParse(undefined).success) return undefined
  return schema.safeParse(null).success ? null : value
}

/**
 * Props of an antd Form.Item from the contract's schema of the field, so that form and server say
 * the same: `<Form.Item name="name" label={…} {...field(body.shape.name)}>`.
 */
export const field = (schema: z.ZodType): { rules: Rule[]; required: boolean } => ({
  required: !schema.safeParse(undefined).success,
  rules: rulesOf(schema),
})

/** A rule of a field or of a list of them. */
export interface Judging {
  readonly validator: (rule: unknown, value: unknown) => Promise<void>
  readonly validateTrigger?: string
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/** What a schema finds wrong with a value, or null. */
export const wrongWith = (schema: z.ZodType, value: unknown): string | null => schema.safeParse(value).error?.issues[0]?.message ?? null

/** A rule of a form's own: the text that `wrong` answers is why a value cannot be. */
export const refusing = <Value>(wrong: (value: Value) => string | false | null | undefined): RuleObject => ({
  validator: async (_rule, value: Value) => {
    const why = wrong(value)
    if (typeof why === 'string') throw new Error(why)
  },
})

/** A schema's judgement of some values. */
const judging =
  (schema: z.ZodType, of: (value: unknown) => boolean): Judging['validator'] =>
  async (_rule, value) => {
    const why = of(value) ? wrongWith(schema, given(schema, value)) : null
    if (why !== null) throw new Error(why)
  }

/**
 * A zod schema as antd rules; the first thing wrong is what the person reads. That something is
 * missing is said once it was taken away or the form is sent, not on leaving a field: what was
 * pressed to leave it would move from under the pointer.
 */
export const rulesOf = (schema: z.ZodType): Judging[] => [
  { validator: judging(schema, isEmpty), validateTrigger: 'onChange' },
  { validator: judging(schema, (value) => !isEmpty(value)) },
]

/** What a schema is about where it may be left out, be null, or have a value of its own. */
function innermost(schema: z.ZodType): z.ZodType {
  const wrapped = schema as z.ZodOptional<z.ZodType>
  return (['optional', 'nullable', 'default'] as string[]).includes(schema.type) ? innermost(wrapped.unwrap()) : schema
}

const known = (limit: unknown): limit is number => typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER

/** How long a text may be by its schema, or between which ends a number: as controls take it, and only what it says. */
export function limitsOf(schema: z.ZodType | undefined): { readonly maxLength?: number; readonly min?: number; readonly max?: number } {
  if (schema === undefined) return {}
  const inner = innermost(schema)
  if (inner.type === 'string') {
    const { maxLength } = inner as z.ZodString
    return known(maxLength) ? { maxLength } : {}
  }
  if (inner.type !== 'number') return {}
  const { minValue: min, maxValue: max } = inner as z.ZodNumber
  return { ...(known(min) && { min }), ...(known(max) && { max }) }
}

interface Ends {
  readonly min?: number
  readonly max?: number
}

/** What is wrong with a number that no schema judges, where it is to be whole, and between these ends. */
export function notWhole({ min = -Infinity, max = Infinity }: Ends, value: number | null | undefined): string | null {
  if (typeof value !== 'number') return null
  if (!Number.isInteger(value)) return fieldTexts.wholeNumber
  if (value < min) return limitTexts.least.int.replace('{limit}', String(min))
  return value > max ? limitTexts.most.int.replace('{limit}', String(max)) : null
}
/** The same as a rule. */
export const wholeBetween = (ends: Ends): RuleObject => refusing((value: number | null | undefined) => notWhole(ends, value))

/** The second of two password entries. */
export const samePassword =
  (other: string, message: string): Rule =>
  ({ getFieldValue }) => ({
    validator: async (_rule, value: unknown) => {
      if (value !== undefined && value !== '' && value !== getFieldValue(other)) throw new Error(message)
    },
  })

/** `labels.0.label` as antd names fields. */
const fieldName = (path: string): (string | number)[] => path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/**
 * Puts the server's field errors on their fields and shows the first; answers those that no field
 * of the form stands for.
 */
export function showFieldErrors(form: FormInstance, fields: readonly FieldError[]): readonly FieldError[] {
  // Asked of the form and not of elements: controls of ours have none to give.
  const known = new Set(form.getFieldsError().map(({ name }) => name.join('.')))
  const left: FieldError[] = []
  let first: (string | number)[] | null = null
  for (const { field: path, message } of fields) {
    // Refused inside of a value that one field holds as a whole: say it there.
    let name = fieldName(path)
    while (name.length > 0 && !known.has(name.join('.'))) name = name.slice(0, -1)
    if (name.length === 0) {
      left.push({ field: path, message })
      continue
    }
    form.setFields([{ name, errors: [message] }])
    first ??= name
  }
  if (first !== null) form.scrollToField(first, { block: 'center', focus: true })
  return left
}
