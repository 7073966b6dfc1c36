import { allCalls } from '@zhisuan/contract/calls'
import { idempotencyKey, type Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { problem } from '@zhisuan/contract/problem'
import { z } from 'zod'

type Json = Record<string, unknown>

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  return rest
}

/** Query and path parameters, from the properties of an object schema. */
function parameters(schema: z.ZodType, place: 'path' | 'query'): Json[] {
  const json = schemaOf(schema, 'input')
  const required = new Set(json['required'] as string[] | undefined)
  return Object.entries((json['properties'] ?? {}) as Json).map(([name, value]) => ({
    name,
    in: place,
    required: place === 'path' || required.has(name),
    schema: value,
  }))
}

function operation(call: Call): Json {
  const body = schemaOf(call.body, 'input')
  const hasBody = Object.keys((body['properties'] ?? {}) as Json).length > 0 || body['anyOf'] !== undefined
  return {
    operationId: call.id,
    summary: call.summary,
    tags: [call.id.split('.')[0]],
    parameters: [
      ...parameters(call.params, 'path'),
      ...parameters(call.query, 'query'),
      ...(call.keyed ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: schemaOf(idempotencyKey, 'input') }] : []),
    ],
    ...(hasBody && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    security: call.access === 'public' ? [] : [{ bearer: [] }],
    'x-access': call.access,
    'x-audit': call.audit,
    responses: {
      [call.status]:
        call.status === 204
          ? { description: 'Done' }
          : {
              description: 'Success',
              content: {
                [call.events ? 'text/event-stream' : call.lines ? 'application/x-ndjson' : 'application/json']: { schema: schemaOf(call.response, 'output') },
              },
            },
      default: { description: 'Refused; see x-error-catalogue', content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  }
}

/** The OpenAPI 3.1 document of every declared call. */
export function openApi(version: string): Json {
  const paths: Record<string, Json> = {}
  for (const call of allCalls) {
    paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: operation(call) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Zhisuan 智算云', version },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(problem, 'output') },
    },
    'x-error-catalogue': errors,
  }
}
