import { z } from 'zod'
import type { kindTexts } from './kindTexts.ts'

type Texts = typeof kindTexts

/** A kind of thing as all calls about it begin, and as policies call it: `nextstack.vm`. */
export type Kind = { [Family in keyof Texts]: `${Family}.${keyof Texts[Family] & string}` }[keyof Texts]

/** Which there are is the compiler's to know: their names need not come into every page. */
export const kind = z
  .string()
  .max(64)
  .regex(/^[a-z]+\.[A-Za-z]+$/) as unknown as z.ZodType<Kind, Kind>

/** The kind that a call is about: `nextstack.vm` of `nextstack.vm.start`. */
export const kindOf = (call: string): string => call.split('.', 2).join('.')
