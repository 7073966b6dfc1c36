import compile from 'fast-json-stringify'
import { z } from 'zod'

type Json = Record<string, unknown>

/** The parts of a JSON Schema that decide how a value is written, not whether it is right. */
const kept = new Set(['type', 'properties', 'items', 'required', 'additionalProperties', 'anyOf', 'prefixItems'])

/** Writes what a call answers; compiled at its first answer, as that takes longer for all calls than the rest of a server's start. */
export function serializerOf(response: z.ZodType): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined
  return (answer) => (write ??= compile(serializerSchema(response)))(answer)
}

/**
 * JSON Schema of a declared response, for the compiled serializer. Checks are dropped: they cost
 * time on every answer, and tests prove that answers fit their declaration. What is not declared
 * never leaves.
 */
export function serializerSchema(response: z.ZodType): Json {
  return simplify(z.toJSONSchema(response, { io: 'output', unrepresentable: 'any' }) as Json)
}

function simplify(schema: Json): Json {
  if (Array.isArray(schema['anyOf'])) {
    const options = schema['anyOf'] as Json[]
    const rest = options.filter((option) => option['type'] !== 'null')
    // `T | null` is by far the most frequent union, and `nullable` needs no trial of each branch.
    if (rest.length === 1 && rest[0] !== undefined) return { ...simplify(rest[0]), nullable: true }
    const types = new Set(rest.map((option) => option['type']))
    if (types.size === 1 && !types.has('object') && !types.has('array')) {
      return { type: [...types][0], ...(rest.length < options.length && { nullable: true }) }
    }
    return { anyOf: options.map(simplify) }
  }
  const result: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    if (!kept.has(key)) continue
    if (key === 'properties') {
      result[key] = Object.fromEntries(Object.entries(value as Record<string, Json>).map(([name, child]) => [name, simplify(child)]))
    } else if ((key === 'items' || key === 'additionalProperties') && typeof value === 'object' && value !== null) {
      result[key] = simplify(value as Json)
    } else {
      result[key] = value
    }
  }
  if (result['type'] === undefined && typeof schema['const'] === 'string') result['type'] = 'string'
  if (result['type'] === undefined && typeof schema['const'] === 'number') result['type'] = 'number'
  return result
}
