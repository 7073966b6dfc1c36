import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Row = { id: string; name: string; project_id: string; shared?: boolean } & Record<string, unknown>
type Asked = { project: string; admin: boolean }

/** What Neutron refuses with, as it says it. */
class Refused extends Error {
  readonly status: number
  readonly type: string
  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

const password = 'Keystone-secret-1'
const home = 'c0ffee00000040008000000000000001'
const kinds = ['firewall_groups', 'firewall_policies', 'firewall_rules'] as const
type Kind = (typeof kinds)[number]
const oneOf: Readonly<Record<Kind, string>> = { firewall_groups: 'firewall_group', firewall_policies: 'firewall_policy', firewall_rules: 'firewall_rule' }
const titles: Readonly<Record<Kind, readonly [type: string, name: string]>> = {
  firewall_groups: ['FirewallGroupNotFound', 'Firewall group'],
  firewall_policies: ['FirewallPolicyNotFound', 'Firewall policy'],
  firewall_rules: ['FirewallRuleNotFound', 'Firewall rule'],
}
const blank: Readonly<Record<Kind, object>> = {
  firewall_groups: { description: '', admin_state_up: true, shared: false, ports: [], ingress_firewall_policy_id: null, egress_firewall_policy_id: null },
  firewall_policies: { description: '', audited: false, shared: false, firewall_rules: [] },
  firewall_rules: {
    description: '',
    protocol: null,
    ip_version: 4,
    source_ip_address: null,
    destination_ip_address: null,
    source_port: null,
    destination_port: null,
    action: 'deny',
    enabled: true,
    shared: false,
  },
}

/**
 * A cloud with a Keystone that keeps projects apart and a Neutron with "FWaaS v2", for what the real cloud of the
 * tests does not have: it keeps the rules of the API reference and refuses in the words of neutron-lib's
 * exceptions/firewall_v2. Of Nova, Glance and Cinder there is only what it takes to be a cloud.
 * @param options.firewall false: without the extension
 */
export async function createFirewallCloud({ firewall = true }: { firewall?: boolean } = {}) {
  const projects = new Map<string, { id: string; name: string; domain_id: string; enabled: boolean; tags: string[] }>([
    [home, { id: home, name: 'admin', domain_id: 'default', enabled: true, tags: [] }],
  ])
  const tables: Record<Kind | 'ports' | 'networks' | 'subnets' | 'routers', Map<string, Row>> = {
    firewall_groups: new Map(),
    firewall_policies: new Map(),
    firewall_rules: new Map(),
    ports: new Map(),
    networks: new Map(),
    subnets: new Map(),
    routers: new Map(),
  }
  const servers: Row[] = []
  const asked: string[] = []
  /** Whether what hosts have to be told is done at once, or only when `settle` says so. */
  let prompt = true
  let url = ''

  const list = (kind: Kind): Row[] => [...tables[kind].values()]
  const seen = (row: Row, by: Asked): boolean => by.admin || row.project_id === by.project || row.shared === true
  const find = (kind: Kind, id: unknown, by: Asked): Row => {
    const row = tables[kind].get(String(id))
    const [type, name] = titles[kind]
    if (row === undefined || !seen(row, by)) throw new Refused(404, type, `${name} ${String(id)} could not be found.`)
    return row
  }
  /** To be changed: what is another's and shared is seen, and policy keeps it. */
  const own = (kind: Kind, id: string, by: Asked): Row => {
    const row = find(kind, id, by)
    if (!by.admin && row.project_id !== by.project) throw new Refused(403, 'PolicyNotAuthorized', `(rule:update_${oneOf[kind]}) is disallowed by policy`)
    return row
  }
  const idsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
  const settled = (group: Row): string => (group['admin_state_up'] === false ? 'DOWN' : idsOf(group['ports']).length === 0 ? 'INACTIVE' : 'ACTIVE')
  const restless = (group: Row): void => {
    const status = String(group['status'])
    if (status.startsWith('PENDING_'))
      throw new Refused(409, 'FirewallGroupInPendingState', `Operation cannot be performed since associated firewall group ${group.id} is in ${status}.`)
  }
  const usersOf = (policyId: string): Row[] =>
    list('firewall_groups').filter((group) => group['ingress_firewall_policy_id'] === policyId || group['egress_firewall_policy_id'] === policyId)
  const holdersOf = (ruleId: string): Row[] => list('firewall_policies').filter((policy) => idsOf(policy['firewall_rules']).includes(ruleId))
  const push = (policy: Row): void => usersOf(policy.id).forEach((group) => (group['status'] = prompt ? settled(group) : 'PENDING_UPDATE'))

  const put = (kind: Kind, row: object, by: Asked): Row => {
    const made = { ...blank[kind], name: '', project_id: by.project, ...row, id: randomUUID() } as Row
    tables[kind].set(made.id, made)
    return made
  }
  const ensureDefault = (project: string): void => {
    if (list('firewall_groups').some(({ name, project_id }) => name === 'default' && project_id === project)) return
    const by = { project, admin: true }
    const [inwards, outwards] = (['ingress', 'egress'] as const).map((way) => {
      const rules = [4, 6].map(
        (ip_version) => put('firewall_rules', { name: `default ${way} ipv${ip_version}`, ip_version, action: way === 'ingress' ? 'deny' : 'allow' }, by).id,
      )
      return put('firewall_policies', { name: `default ${way}`, firewall_rules: rules }, by).id
    })
    put(
      'firewall_groups',
      { name: 'default', description: 'Default firewall group', ingress_firewall_policy_id: inwards, egress_firewall_policy_id: outwards, status: 'INACTIVE' },
      by,
    )
  }
  const mayShare = (wish: Record<string, unknown>, by: Asked, kind: Kind): void => {
    if (wish['shared'] === true && !by.admin) throw new Refused(403, 'PolicyNotAuthorized', `(rule:create_${oneOf[kind]}:shared) is disallowed by policy`)
  }

  const checks: Record<Kind, (wish: Record<string, unknown>, by: Asked, before: Row | null) => void> = {
    firewall_rules(wish, _by, before) {
      const rule = { ...blank.firewall_rules, ...before, ...wish } as Record<string, unknown>
      const ports = [rule['source_port'], rule['destination_port']].filter((port) => typeof port === 'string')
      if (ports.length > 0 && rule['protocol'] === null)
        throw new Refused(400, 'FirewallRuleWithPortWithoutProtocolInvalid', 'Source/destination port requires a protocol.')
      if (ports.length > 0 && !['tcp', 'udp'].includes(String(rule['protocol'])))
        throw new Refused(400, 'FirewallRuleInvalidICMPParameter', 'Source, destination port are not allowed when protocol is set to ICMP.')
      for (const port of ports)
        if (!/^\d+(:\d+)?$/.test(port) || Number(port.split(':')[0]) > Number(port.split(':').at(-1)))
          throw new Refused(400, 'FirewallRuleInvalidPortValue', `Invalid value for port ${port}.`)
      for (const address of [rule['source_ip_address'], rule['destination_ip_address']]) {
        if (typeof address === 'string' && address.includes(':') !== (rule['ip_version'] === 6))
          throw new Refused(400, 'FirewallIpAddressConflict', 'Invalid input - IP addresses do not agree with IP Version.')
      }
      if (before !== null) for (const policy of holdersOf(before.id)) usersOf(policy.id).forEach(restless)
    },
    firewall_policies(wish, by, before) {
      if (wish['name'] === 'default ingress' || wish['name'] === 'default egress')
        throw new Refused(
          409,
          'FirewallDefaultParameterExists',
          `Operation cannot be performed since '${wish['name']}' is a reserved name for Firewall Policy.`,
        )
      if (before?.name.startsWith('default ') === true)
        throw new Refused(
          409,
          'FirewallDefaultObjectUpdateRestricted',
          `Operation cannot be performed on default object '${before.id}' of type Firewall Policy.`,
        )
      if (before !== null) usersOf(before.id).forEach(restless)
      const shared = wish['shared'] ?? before?.shared ?? false
      const project = before?.project_id ?? wish['project_id'] ?? by.project
      if (before !== null && wish['shared'] === false && usersOf(before.id).some(({ project_id }) => project_id !== before.project_id))
        throw new Refused(409, 'FirewallPolicyInUse', `Firewall policy ${before.id} is being used.`)
      for (const id of idsOf(wish['firewall_rules'] ?? before?.['firewall_rules'])) {
        const rule = find('firewall_rules', id, by)
        if (shared === true && rule.shared !== true) {
          if (wish['firewall_rules'] === undefined)
            throw new Refused(
              409,
              'FirewallPolicySharingConflict',
              `Operation cannot be performed. Before sharing firewall policy ${before?.id}, share associated firewall rule ${id}.`,
            )
          throw new Refused(
            404,
            'FirewallRuleSharingConflict',
            `Operation cannot be performed since firewall policy ${before?.id} could not find the firewall rule ${id}. Please confirm if the firewall rule exists and is shared.`,
          )
        }
        if (rule.shared !== true && rule.project_id !== project)
          throw new Refused(
            409,
            'FirewallRuleConflict',
            `Operation cannot be performed since firewall rule ${id} is not shared and belongs to another project ${rule.project_id}.`,
          )
      }
    },
    firewall_groups(wish, by, before) {
      if (wish['name'] === 'default')
        throw new Refused(409, 'FirewallDefaultParameterExists', "Operation cannot be performed since 'default' is a reserved name for firewall_group.")
      if (before !== null) restless(before)
      const kept = by.admin ? ['name'] : ['name', 'description', 'admin_state_up', 'ingress_firewall_policy_id', 'egress_firewall_policy_id']
      if (before?.name === 'default' && kept.some((field) => field in wish))
        throw new Refused(
          409,
          'FirewallDefaultObjectUpdateRestricted',
          `Operation cannot be performed on default object '${before.id}' of type Firewall Group.`,
        )
      const project = before?.project_id ?? wish['project_id'] ?? by.project
      for (const field of ['ingress_firewall_policy_id', 'egress_firewall_policy_id'] as const) {
        if (typeof wish[field] !== 'string') continue
        const policy = find('firewall_policies', wish[field], by)
        if (policy.project_id !== project && policy.shared !== true)
          throw new Refused(
            404,
            'FirewallPolicyConflict',
            `Operation cannot be performed since firewall policy ${policy.id} for your project could not be found. Please confirm if the firewall policy exists and is shared.`,
          )
      }
      for (const id of idsOf(wish['ports'])) {
        const port = tables.ports.get(id)
        if (port === undefined || !seen(port, by)) throw new Refused(404, 'PortNotFound', `Port ${id} could not be found.`)
        if (port.project_id !== project)
          throw new Refused(409, 'FirewallGroupPortInvalidProject', `Operation cannot be performed as port ${id} is in an invalid project ${port.project_id}.`)
        if (!/^(compute:|network:router_interface)/.test(String(port['device_owner'])))
          throw new Refused(409, 'FirewallGroupPortInvalid', `Port ${id} of firewall group is invalid.`)
        if (list('firewall_groups').some((group) => group.id !== before?.id && idsOf(group['ports']).includes(id)))
          throw new Refused(409, 'FirewallGroupPortInUse', `Port(s) ['${id}'] provided already associated with other firewall group(s).`)
      }
    },
  }

  const change = (kind: Kind, row: Row, wish: Record<string, unknown>): Row => {
    Object.assign(row, wish)
    if (kind === 'firewall_groups') row['status'] = prompt ? settled(row) : 'PENDING_UPDATE'
    if (kind === 'firewall_policies') {
      row['audited'] = wish['audited'] ?? false
      push(row)
    }
    if (kind === 'firewall_rules') {
      for (const policy of holdersOf(row.id)) {
        policy['audited'] = false
        push(policy)
      }
    }
    return row
  }

  const firewalls = (method: string, [kindName = '', id, action]: readonly string[], body: Record<string, unknown>, by: Asked): object | null => {
    const kind = kinds.find((one) => one === kindName)
    if (kind === undefined) throw new Refused(404, 'HTTPNotFound', 'The resource could not be found.')
    const wish = (body[oneOf[kind]] ?? {}) as Record<string, unknown>
    if (id === undefined) {
      if (kind === 'firewall_groups') ensureDefault(by.project)
      if (method === 'GET') return { [kind]: list(kind).filter((row) => seen(row, by)) }
      mayShare(wish, by, kind)
      checks[kind](wish, by, null)
      const made = put(kind, wish, by)
      if (kind === 'firewall_groups') made['status'] = prompt ? settled(made) : 'PENDING_CREATE'
      return { [oneOf[kind]]: made }
    }
    if (method === 'GET') return { [oneOf[kind]]: find(kind, id, by) }
    if (method === 'DELETE') {
      const row = own(kind, id, by)
      if (kind === 'firewall_rules' && holdersOf(id).length > 0) throw new Refused(409, 'FirewallRuleInUse', `Firewall rule ${id} is being used.`)
      if (kind === 'firewall_policies' && usersOf(id).length > 0) throw new Refused(409, 'FirewallPolicyInUse', `Firewall policy ${id} is being used.`)
      if (kind === 'firewall_groups') {
        restless(row)
        if (idsOf(row['ports']).length > 0) throw new Refused(409, 'FirewallGroupInUse', `Firewall group ${id} is still active.`)
        if (row.name === 'default' && !by.admin) throw new Refused(409, 'FirewallGroupCannotRemoveDefault', 'Deleting default firewall group not allowed.')
      }
      tables[kind].delete(id)
      return null
    }
    const row = own(kind, id, by)
    if (action === undefined) {
      mayShare(wish, by, kind)
      checks[kind](wish, by, row)
      return { [oneOf[kind]]: change(kind, row, wish) }
    }
    // Inserting and removing answer with the policy itself.
    usersOf(id).forEach(restless)
    const ruleId = String(body['firewall_rule_id'])
    const rule = find('firewall_rules', ruleId, by)
    const ids = idsOf(row['firewall_rules'])
    const place = (of: string): number => {
      if (!ids.includes(of)) throw new Refused(400, 'FirewallRuleNotAssociatedWithPolicy', `Firewall rule ${of} is not associated with firewall policy ${id}.`)
      return ids.indexOf(of)
    }
    if (action === 'remove_rule') return change(kind, row, { firewall_rules: ids.filter((_one, at) => at !== place(ruleId)) })
    if (ids.includes(ruleId))
      throw new Refused(
        409,
        'FirewallRuleAlreadyAssociated',
        `Operation cannot be performed since firewall rule ${ruleId} is already associated with firewall policy ${id}.`,
      )
    if (rule.shared !== true && rule.project_id !== row.project_id)
      throw new Refused(
        409,
        'FirewallRuleConflict',
        `Operation cannot be performed since firewall rule ${ruleId} is not shared and belongs to another project ${rule.project_id}.`,
      )
    const { insert_before: before, insert_after: after } = body
    const at = typeof before === 'string' ? place(before) : typeof after === 'string' ? place(after) + 1 : 0
    return change(kind, row, { firewall_rules: ids.toSpliced(at, 0, ruleId) })
  }

  const network = (
    method: string,
    [first = '', second, ...rest]: readonly string[],
    query: URLSearchParams,
    body: Record<string, unknown>,
    by: Asked,
  ): object | null => {
    if (first === '') return { versions: [{ id: 'v2.0', status: 'CURRENT' }] }
    if (first === 'extensions') return { extensions: ['router', 'security-group', 'quotas', ...(firewall ? ['fwaas_v2'] : [])].map((alias) => ({ alias })) }
    if (first === 'fwaas' && firewall) return firewalls(method, second === undefined ? [] : [second, ...rest], body, by)
    if (first === 'security-groups') return { security_groups: [] }
    if (first === 'floatingips') return { floatingips: [] }
    if (first === 'networks' || first === 'subnets' || first === 'ports' || first === 'routers') {
      const rows = [...tables[first].values()].filter((row) => seen(row, by))
      if (second === undefined)
        return {
          [first]: rows.filter((row) =>
            ['id', 'device_id', 'network_id', 'device_owner', 'project_id', 'name'].every(
              (key) => !query.has(key) || query.getAll(key).includes(String(row[key])),
            ),
          ),
        }
      const row = rows.find(({ id }) => id === second)
      if (row !== undefined) return { [first.slice(0, -1)]: row }
      throw new Refused(404, 'NotFound', `${first.slice(0, -1)} ${second} could not be found.`)
    }
    // As Neutron's gateway says it of what no extension serves.
    throw new Refused(404, '', 'The resource could not be found.<br /><br />\n\n\n')
  }

  const identity = (method: string, parts: readonly string[], query: URLSearchParams, body: Record<string, unknown>): object | null => {
    const [first = '', id, what] = parts
    if (first === '') return { version: { id: 'v3.14', status: 'stable' } }
    if (first === 'roles') return { roles: [{ id: 'role-member', name: 'member' }] }
    if (first === 'projects' && method === 'POST') {
      const wish = body['project'] as { name: string; domain_id: string; tags?: string[] }
      if ([...projects.values()].some(({ name }) => name === wish.name))
        throw new Refused(409, 'Conflict', 'Conflict occurred attempting to store project - it is not permitted to have two projects with the same name.')
      const made = { id: randomUUID().replaceAll('-', ''), name: wish.name, domain_id: wish.domain_id, enabled: true, tags: wish.tags ?? [] }
      projects.set(made.id, made)
      return { project: made }
    }
    if (first === 'projects' && id === undefined)
      return { projects: [...projects.values()].filter(({ name }) => !query.has('name') || query.get('name') === name) }
    if (first === 'projects' && what === 'users') return null
    const project = projects.get(id ?? '')
    if (first !== 'projects' || project === undefined) throw new Refused(404, '', `Could not find project: ${id}.`)
    return { project }
  }
  const signIn = (body: Record<string, unknown>): { token: string; json: object } => {
    const { auth } = body as { auth: { identity: { password?: { user?: { password?: string } } }; scope?: { project?: { id?: string; name?: string } } } }
    if (auth.identity.password?.user?.password !== password) throw new Refused(401, 'Unauthorized', 'The request you have made requires authentication.')
    const wanted = auth.scope?.project
    const project = [...projects.values()].find(({ id, name }) => id === wanted?.id || name === wanted?.name)
    if (project === undefined) throw new Refused(401, 'Unauthorized', 'The request you have made requires authentication.')
    const at = (type: string, path: string) => ({ type, endpoints: [{ interface: 'public', region_id: 'RegionOne', url: `${url}/${path}` }] })
    const roles = [project.id === home ? { id: 'role-admin', name: 'admin' } : { id: 'role-member', name: 'member' }]
    const catalog = [
      at('identity', 'identity/v3'),
      at('compute', 'compute/v2.1'),
      at('placement', 'placement'),
      at('image', 'image'),
      at('network', 'network'),
      at('volumev3', `volume/v3/${project.id}`),
    ]
    return {
      token: project.id,
      json: {
        token: {
          expires_at: new Date(Date.now() + 3_600_000).toISOString(),
          user: { id: 'user', name: 'admin' },
          project: { id: project.id, name: project.name },
          roles,
          catalog,
        },
      },
    }
  }
  const others = (service: string, path: string, by: Asked): object => {
    const known: Readonly<Record<string, object>> = {
      'compute/v2.1/': { version: { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' } },
      'compute/v2.1/servers/detail': { servers: servers.filter((one) => seen(one, by)) },
      'compute/v2.1/servers': { servers: servers.filter((one) => seen(one, by)).map(({ id, name }) => ({ id, name })) },
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
      'image/v2/images': { images: [] },
      'volume/v3/project/scheduler-stats/get_pools': { pools: [] },
      'volume/v3/': { versions: [{ id: 'v3.0', status: 'CURRENT', version: '3.70', min_version: '3.0' }] },
    }
    const found = known[`${service}/${path.replace(by.project, 'project')}`]
    if (found !== undefined) return found
    throw new Refused(404, '', `nothing at ${service}/${path}`)
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const say = (status: number, json: object | null, headers: Record<string, string> = {}): void => {
        response
          .writeHead(status, { 'content-type': 'application/json', 'x-openstack-request-id': `req-${randomUUID()}`, ...headers })
          .end(json === null ? '' : JSON.stringify(json))
      }
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://cloud')
      const method = request.method ?? ''
      const text = Buffer.concat(parts).toString()
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
      const [, service = '', ...path] = pathname.split('/')
      asked.push(`${method} ${pathname}`)
      try {
        if (pathname.endsWith('/auth/tokens') && method === 'POST') {
          const { token, json } = signIn(body)
          return say(201, json, { 'x-subject-token': token })
        }
        const project = String(request.headers['x-auth-token'] ?? '')
        const by = { project, admin: project === home }
        const [version, ...rest] = path
        if (service === 'identity') return say(method === 'POST' ? 201 : 200, identity(method, rest, searchParams, body))
        if (!projects.has(project) && rest.length > 0 && rest[0] !== '') throw new Refused(401, '', 'The request you have made requires authentication.')
        if (service !== 'network') return say(200, others(service, path.join('/'), by))
        const answer = network(method, version === '' ? [] : rest, searchParams, body, by)
        return say(answer === null ? 204 : method === 'POST' ? 201 : 200, answer)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        const { status, type, message } = error
        return say(
          status,
          type === ''
            ? { message, code: `${status} Not Found`, title: 'Not Found' }
            : service === 'identity'
              ? { error: { code: status, message, title: type } }
              : { NeutronError: { type, message, detail: '' } },
        )
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const plug = (project_id: string, row: { name: string; owner: string; device: string; network: string; address: string }): string => {
    const id = randomUUID()
    const port = {
      id,
      name: '',
      project_id,
      status: 'ACTIVE',
      admin_state_up: true,
      network_id: row.network,
      mac_address: `fa:16:3e:${id.slice(0, 2)}:${id.slice(2, 4)}:${id.slice(4, 6)}`,
      device_owner: row.owner,
      device_id: row.device,
      fixed_ips: [{ subnet_id: null, ip_address: row.address }],
      security_groups: [],
      port_security_enabled: true,
    }
    tables.ports.set(id, { ...port, name: row.name })
    return id
  }
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
    /** All requests that came, as `GET /network/v2.0/ports`. */
    asked,
    /** The Keystone projects beside that of the registration. */
    projects: () => [...projects.values()].filter(({ id }) => id !== home),
    rows: (kind: Kind): readonly Row[] => list(kind),
    /** From now on changes wait for `settle`, as where hosts are told of them. */
    dawdle: (): void => void (prompt = false),
    /** All that waits is done. */
    settle(): void {
      prompt = true
      for (const group of list('firewall_groups')) group['status'] = settled(group)
    },
    /** A network of a project's, with a router's port, an instance's and one that is free. @returns the ports' ids */
    furnish(projectId: string, name: string): { network: string; router: string; instance: string; other: string; free: string } {
      const [networkId, routerId] = [randomUUID(), randomUUID()]
      tables.networks.set(networkId, {
        id: networkId,
        name,
        project_id: projectId,
        status: 'ACTIVE',
        admin_state_up: true,
        shared: false,
        'router:external': false,
        subnets: [],
        mtu: 1450,
        port_security_enabled: true,
      })
      tables.routers.set(routerId, {
        id: routerId,
        name: `${name}-router`,
        project_id: projectId,
        status: 'ACTIVE',
        admin_state_up: true,
        external_gateway_info: null,
        routes: [],
      })
      const machine = (suffix: string): string => {
        const id = randomUUID()
        const made = {
          id,
          name: `${name}-${suffix}`,
          project_id: projectId,
          tenant_id: projectId,
          status: 'ACTIVE',
          metadata: {},
          image: '',
          created: '2026-11-20T01:02:03Z',
          updated: '2026-11-20T01:02:13Z',
          addresses: {},
          key_name: null,
          progress: 0,
          locked: false,
          description: null,
          tags: [],
        }
        servers.push({
          ...made,
          flavor: { original_name: 'm1.small', vcpus: 1, ram: 2048, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} },
          'OS-EXT-STS:vm_state': 'active',
          'OS-EXT-STS:task_state': null,
          'OS-EXT-AZ:availability_zone': 'nova',
          'OS-SRV-USG:launched_at': null,
          'os-extended-volumes:volumes_attached': [],
        })
        return id
      }
      return {
        network: networkId,
        router: plug(projectId, { name: '', owner: 'network:router_interface', device: routerId, network: networkId, address: '10.60.0.1' }),
        instance: plug(projectId, { name: '', owner: 'compute:nova', device: machine('web'), network: networkId, address: '10.60.0.11' }),
        other: plug(projectId, { name: '', owner: 'compute:nova', device: machine('db'), network: networkId, address: '10.60.0.12' }),
        free: plug(projectId, { name: 'spare', owner: '', device: '', network: networkId, address: '10.60.0.99' }),
      }
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type FirewallCloud = Awaited<ReturnType<typeof createFirewallCloud>>
