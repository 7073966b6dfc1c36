import { readFileSync } from 'node:fs'
import type { ResponseOf } from '@zhisuan/contract/define'
import { terms } from '@zhisuan/contract/root/terms'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'

/** What lies at the root of the site rather than under an API family. */
export function createRoot(): ModuleParts {
  const text: ResponseOf<typeof terms.get> = terms.get.response.parse(JSON.parse(readFileSync(new URL('terms.json', import.meta.url), 'utf8')))
  return {
    handlers: [
      handle(terms.get, async ({ reply }) => {
        reply.header('cache-control', 'no-store')
        return text
      }),
    ],
  }
}
