import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Row = { id: string } & Record<string, unknown>
/** One of Keystone's, and whether the account has a role in it. */
interface ListedProject {
  readonly id: string
  readonly enabled?: boolean
  readonly open?: boolean
}

const password = 'Keystone-secret-1'
const project = 'c0ffee00000040008000000000000002'
/** Where each list is, and under which name its service tells it. */
const lists = {
  servers: { path: 'compute/v2.1/servers/detail', key: 'servers' },
  volumes: { path: `volume/v3/${project}/volumes/detail`, key: 'volumes' },
  snapshots: { path: `volume/v3/${project}/snapshots/detail`, key: 'snapshots' },
  backups: { path: `volume/v3/${project}/backups/detail`, key: 'backups' },
  floatingIps: { path: 'network/v2.0/floatingips', key: 'floatingips' },
  images: { path: 'image/v2/images', key: 'images' },
} as const
type List = keyof typeof lists

/** Nova's answer of a server, as it was recorded of the real cloud of the tests (microversion 2.93), but for what is said otherwise. */
export const recordedServer = (changes: Record<string, unknown> = {}): Row => ({
  id: randomUUID(),
  name: 'web-1',
  status: 'ACTIVE',
  tenant_id: project,
  user_id: 'user',
  metadata: {},
  image: { id: randomUUID() },
  flavor: { original_name: 'm1.small', vcpus: 1, ram: 2048, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} },
  created: '2026-11-20T01:02:03Z',
  updated: '2026-11-20T01:02:13Z',
  addresses: {},
  key_name: null,
  progress: 0,
  locked: false,
  description: null,
  tags: [],
  'OS-EXT-STS:vm_state': 'active',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-AZ:availability_zone': 'nova',
  'OS-SRV-USG:launched_at': '2026-11-20T01:02:13.000000',
  'os-extended-volumes:volumes_attached': [],
  ...changes,
})

/** What becomes at once of a server by Nova's actions. */
const active = { status: 'ACTIVE', 'OS-EXT-STS:vm_state': 'active' }
const actions: Readonly<Record<string, object>> = {
  'os-stop': { status: 'SHUTOFF', 'OS-EXT-STS:vm_state': 'stopped' },
  'os-start': active,
  unpause: active,
  unrescue: active,
  forceDelete: { 'OS-EXT-STS:task_state': 'deleting' },
}

/** A cloud of which there is nothing but its lists, page by page as they are set, what goes wrong with them, and servers that are started and stopped. */
export async function createListedCloud() {
  const pages = Object.fromEntries(Object.keys(lists).map((list) => [list, [[]]])) as unknown as Record<List, readonly (readonly Row[])[]>
  const broken = new Map<List, number>()
  const gates = new Map<List, Promise<void>>()
  const acted: string[] = []
  const replies = new Map<string, { status: number; json: object }>()
  const askedFor: string[] = []
  const actionsOf = new Map<string, readonly object[]>()
  let deleted: readonly Row[] = []
  /** What Keystone has beside its own; null: it is not asked for that here. */
  let projects: readonly ListedProject[] | null = null
  let refusesActions = false
  let role = 'admin'
  let url = ''

  const keystoneKnows = (path: string): { status: number; json: object } | null => {
    if (projects === null) return null
    const raw = ({ id, enabled = true }: ListedProject) => ({ id, name: id, domain_id: 'default', enabled, tags: ['zhisuan'] })
    if (path === 'identity/v3/projects') return { status: 200, json: { projects: projects.map(raw), links: { next: null } } }
    if (path === 'identity/v3/role_assignments') {
      const open = [project, ...projects.filter(({ open: mine = true }) => mine).map(({ id }) => id)]
      return { status: 200, json: { role_assignments: open.map((id) => ({ scope: { project: { id } }, role: { id: 'member' }, user: { id: 'user' } })) } }
    }
    const id = /^identity\/v3\/projects\/(\w+)$/.exec(path)?.[1]
    if (id === undefined) return null
    const one = projects.find((each) => each.id === id)
    return one === undefined
      ? { status: 404, json: { error: { code: 404, title: 'Not Found', message: `Could not find project: ${id}.` } } }
      : { status: 200, json: { project: raw(one) } }
  }
  /** Keystone lets nobody into a project that is disabled or not there, nor whom has no role in it. */
  const letsIn = (body: string): boolean => {
    const id = /"project":\{"id":"(\w+)"\}/.exec(body)?.[1]
    const one = projects?.find((each) => each.id === id)
    return id === undefined || projects === null || (one !== undefined && one.enabled !== false && one.open !== false)
  }
  const known = (path: string): object | null => {
    const answers: Readonly<Record<string, object>> = {
      'identity/v3/': { version: { id: 'v3.14', status: 'stable' } },
      'compute/v2.1/': { version: { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' } },
      'compute/v2.1/os-hypervisors/statistics': {
        hypervisor_statistics: {
          count: 1,
          vcpus: 32,
          vcpus_used: 4,
          memory_mb: 65_536,
          memory_mb_used: 8_192,
          local_gb: 1_000,
          local_gb_used: 10,
          running_vms: 1,
        },
      },
      'placement/': { versions: [{ id: 'v1.0', max_version: '1.39', min_version: '1.0', status: 'CURRENT' }] },
      'placement/resource_providers': { resource_providers: [] },
      'image/': { versions: [{ id: 'v2.15', status: 'CURRENT' }] },
      'network/': { versions: [{ id: 'v2.0', status: 'CURRENT' }] },
      'volume/v3/': { versions: [{ id: 'v3.0', status: 'CURRENT', version: '3.70', min_version: '3.0' }] },
    }
    return answers[path] ?? answers[`${path}/`] ?? null
  }
  const token = () => {
    const at = (type: string, path: string) => ({ type, endpoints: [{ interface: 'public', region_id: 'RegionOne', url: `${url}/${path}` }] })
    const catalog = [
      at('identity', 'identity/v3'),
      at('compute', 'compute/v2.1'),
      at('placement', 'placement'),
      at('image', 'image'),
      at('network', 'network'),
      at('volumev3', `volume/v3/${project}`),
    ]
    return {
      token: {
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        user: { id: 'user', name: 'admin' },
        project: { id: project, name: 'admin' },
        roles: [{ id: role, name: role }],
        catalog,
      },
    }
  }
  const server = createServer((request, response) => {
    const say = (status: number, json: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-openstack-request-id': `req-${randomUUID()}`, ...headers }).end(JSON.stringify(json))
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://cloud')
    const path = pathname.slice(1)
    askedFor.push(`${request.method} ${path}`)
    const told = replies.get(path)
    if (told !== undefined) {
      request.resume()
      return say(told.status, told.json)
    }
    const actionsFor = /^compute\/v2\.1\/servers\/([0-9a-f-]{36})\/os-instance-actions$/.exec(path)?.[1]
    if (actionsFor !== undefined) return say(200, { instanceActions: actionsOf.get(actionsFor) ?? [] })
    const [, id, acting] = /^compute\/v2\.1\/servers\/([0-9a-f-]{36})(\/action)?$/.exec(path) ?? []
    if (id !== undefined) {
      void request.toArray().then((parts: Buffer[]) => {
        const row = pages.servers.flat().find((one) => one.id === id)
        if (row === undefined) return say(404, { itemNotFound: { code: 404, message: `Instance ${id} could not be found.` } })
        if (acting === undefined) return say(200, { server: row })
        const [action = ''] = Object.keys(JSON.parse(Buffer.concat(parts).toString()) as object)
        acted.push(`${action} ${id}`)
        const to = refusesActions ? undefined : actions[action]
        if (to === undefined)
          return say(500, { computeFault: { code: 500, message: 'The server has either erred or is incapable of performing the requested operation.' } })
        Object.assign(row, to, { updated: `${new Date().toISOString().slice(0, 19)}Z` })
        response.writeHead(202).end()
      })
      return
    }
    if (path.endsWith('/auth/tokens')) {
      void request.toArray().then((parts: Buffer[]) => {
        if (letsIn(Buffer.concat(parts).toString())) return say(201, token(), { 'x-subject-token': role })
        return say(401, { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } })
      })
      return
    }
    request.resume()
    const keystone = keystoneKnows(path)
    if (keystone !== null) return say(keystone.status, keystone.json)
    if (path === lists.servers.path && searchParams.get('deleted') === 'true') {
      const since = Date.parse(searchParams.get('changes-since') ?? '')
      return say(200, { servers: deleted.filter(({ updated }) => Date.parse(String(updated)) >= since) })
    }
    const [name, list] = Object.entries(lists).find(([, one]) => one.path === path) ?? []
    if (name === undefined || list === undefined) {
      const answer = known(path)
      return answer === null ? say(404, { message: `nothing at ${path}`, title: 'Not Found' }) : say(200, answer)
    }
    const of = name as List
    void (gates.get(of) ?? Promise.resolve()).then(() => {
      const page = Number(searchParams.get('marker')?.slice('page-'.length) ?? 0)
      if (page >= (broken.get(of) ?? Infinity))
        return say(500, { message: 'The server has either erred or is incapable of performing the requested operation.', title: 'Internal Server Error' })
      const more = page + 1 < pages[of].length
      const next = `${url}/${path}?marker=page-${page + 1}`
      const community = searchParams.get('visibility') === 'community'
      return say(200, {
        [list.key]: community ? [] : (pages[of][page] ?? []),
        ...(more && !community && (of === 'images' ? { next } : { [`${list.key}_links`]: [{ rel: 'next', href: next }] })),
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    /** What a platform's administrator types in to register it. */
    registration: {
      type: 'openstack-password' as const,
      auth_url: `${url}/identity/v3`,
      interface: 'public' as const,
      region: 'RegionOne',
      username: 'admin',
      password,
      user_domain: 'Default',
      project: 'admin',
      project_domain: 'Default',
    },
    /** From now on it has these, on so many pages. */
    has(list: List, ...now: readonly (readonly Row[])[]): void {
      pages[list] = now.length === 0 ? [[]] : now
    },
    /** Projects that its Keystone has beside the one of the account. */
    hasProjects(...now: readonly ListedProject[]): void {
      projects = now
    },
    /** Servers that were deleted, as Nova goes on telling them to administrators who ask for them. */
    deleted(...now: readonly Row[]): void {
      deleted = now
    },
    /** What was done to a server, the newest first. */
    tellsActions(id: string, ...now: readonly { action: string; at: Date; message?: string }[]): void {
      const stamp = (at: Date): string => at.toISOString().replace('Z', '000')
      actionsOf.set(
        id,
        now.map(({ action, at, message = null }) => ({
          action,
          request_id: `req-${randomUUID()}`,
          start_time: stamp(new Date(at.getTime() - 5_000)),
          updated_at: stamp(at),
          message,
        })),
      )
    },
    /** What it answers at an address instead of what it has there; null: no more. */
    replies(path: string, answer: { status: number; json: object } | null): void {
      if (answer === null) replies.delete(path)
      else replies.set(path, answer)
    },
    /** All that was asked for, by method and path. */
    askedFor,
    /** A list fails from its n-th page on; null: no more. */
    breaks(list: List, fromPage: number | null): void {
      if (fromPage === null) broken.delete(list)
      else broken.set(list, fromPage)
    },
    /** Whoever asks for a list waits for it. @returns lets them go on */
    holds(list: List): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.set(list, promise)
      return () => {
        gates.delete(list)
        resolve()
      }
    },
    /** All that was asked of servers: the action and whose. */
    acted,
    /** Whether Nova fails at whatever is asked of servers. */
    failsActions(does: boolean): void {
      refusesActions = does
    },
    /** What the account is there, to whom signs in from now on. */
    takesFor(next: string): void {
      role = next
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
