import { cloudLabel, type CloudLabel } from '@zhisuan/contract/cmp/cloud'
import { z } from 'zod'

/** While it is edited, anything may stand in a field. */
const edited = z.object(
  Object.fromEntries(Object.keys(cloudLabel.shape).map((key) => [key, z.string().optional()])) as Record<keyof CloudLabel, z.ZodOptional<z.ZodString>>,
)
export type EditedLabel = z.output<typeof edited>

export const newLabel: EditedLabel = { label: '', textColor: '#1a458f', bgColor: '#e8effb' }

/** The fields of a stored label; null where the text is none, so that it is not lost but shown as it is. */
export function readLabel(text: string): EditedLabel | null {
  try {
    return edited.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** As it is stored: JSON without the fields that are empty. */
export const writeLabel = (label: EditedLabel): string =>
  JSON.stringify(Object.fromEntries(Object.entries(label).filter(([key, value]) => key === 'label' || (value ?? '').trim() !== '')))

/** What the contract says of a stored label: the first thing wrong, by field, or null. */
export function wrongWith(text: string): { readonly field: string; readonly message: string } | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { field: '', message: '' }
  }
  const issue = cloudLabel.safeParse(value).error?.issues[0]
  return issue === undefined ? null : { field: String(issue.path[0] ?? ''), message: issue.message }
}
