import { z } from 'zod'
import { isEngineError } from '../errors.ts'
import { createRegistryWithMore, parsed } from './client.ts'
import type { AskOptions, Registry, RegistryConnection } from './types.ts'

/** As many as Harbor gives at once ("page_size", API 2.0). */
const pageSize = 100

const systemInfo = z.object({ auth_mode: z.string().nullish(), harbor_version: z.string().nullish(), registry_url: z.string().nullish() })
const project = z.object({ name: z.string() })
const repository = z.object({ name: z.string() })
const artifact = z.object({ tags: z.array(z.object({ name: z.string() })).nullish() })

/**
 * Harbor, by its API 2.0: a registry like others, but for what it tells of what it has. `_catalog` it tells administrators only;
 * a robot account lists its projects, their repositories and the tags of those. Asks nothing yet.
 */
export function createHarbor(connection: RegistryConnection): Registry {
  const { registry, beside } = createRegistryWithMore(connection)

  /** Pages of a list, until one is not full. */
  async function* pages<T extends z.ZodType>(path: string, item: T, options: AskOptions): AsyncGenerator<z.output<T>[], void, void> {
    for (let page = 1; ; page++) {
      const { body } = await beside(`${path}?page=${page}&page_size=${pageSize}`, options)
      const items = parsed(z.array(item), body, path)
      yield items
      if (items.length < pageSize) return
    }
  }

  return {
    ...registry,
    async check(options = {}) {
      await registry.check(options)
      // Whoever it is, it says what it is; any other registry says nothing here.
      const { auth_mode, harbor_version, registry_url } = parsed(systemInfo, (await beside('/api/v2.0/systeminfo', options)).body, 'systeminfo')
      if (auth_mode == null && harbor_version == null && registry_url == null) parsed(z.never(), Buffer.from('null'), 'systeminfo')
      // That the account is taken here too: what it has is listed by this API.
      parsed(z.array(project), (await beside('/api/v2.0/projects?page=1&page_size=1', options)).body, 'projects')
    },
    async *repositories(options = {}) {
      for await (const projects of pages('/api/v2.0/projects', project, options))
        for (const { name } of projects)
          for await (const all of pages(`/api/v2.0/projects/${encodeURIComponent(name)}/repositories`, repository, options)) yield all.map((one) => one.name)
    },
    async tags(name, options = {}) {
      const most = options.most ?? Number.POSITIVE_INFINITY
      const slash = name.indexOf('/')
      const [of, rest] = [name.slice(0, slash), name.slice(slash + 1)]
      // What stands in no project Harbor does not have.
      if (slash <= 0) return { items: [], more: false }
      const items: string[] = []
      try {
        // A name with slashes is escaped twice ("repository_name", API 2.0).
        const path = `/api/v2.0/projects/${encodeURIComponent(of)}/repositories/${encodeURIComponent(encodeURIComponent(rest))}/artifacts`
        for await (const artifacts of pages(path, artifact, options)) {
          for (const { tags } of artifacts) for (const { name: tag } of tags ?? []) items.push(tag)
          if (items.length > most) return { items: items.slice(0, most), more: true }
        }
      } catch (error) {
        if (isEngineError(error, 'not_found')) return { items: [], more: false }
        throw error
      }
      return { items, more: false }
    },
  }
}
