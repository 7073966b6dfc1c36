import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createOpenStack, type OpenStack } from './cloud.ts'
import { all } from './session.ts'

/** What the real cloud of the engine tests cannot be made to do. */
describe('a session with a cloud that misbehaves', () => {
  type Reply = { status?: number; json?: unknown; text?: string; headers?: Record<string, string> }
  let asked: string[] = []
  let bodies: unknown[] = []
  let headers: IncomingMessage['headers'][] = []
  let signedIn = 0
  let url = ''
  /** How long a token lives, in seconds. */
  let life = 3_600
  let replies: Record<string, Reply | ((body: unknown) => Reply) | 'hangs' | 'breaks'> = {}
  const catalogue = () =>
    ['compute', 'network', 'volumev3', 'image'].map((type) => ({ type, endpoints: [{ interface: 'public', region_id: 'one', url: `${url}/${type}` }] }))
  const answer = (request: IncomingMessage, body: unknown): Reply | 'hangs' | 'breaks' => {
    const { pathname } = new URL(request.url ?? '', url)
    const reply = replies[`${request.method} ${pathname}`] ?? replies[`* ${pathname}`]
    if (reply !== undefined) return typeof reply === 'function' ? reply(body) : reply
    if (pathname !== '/v3/auth/tokens') return { status: 404, json: { itemNotFound: { code: 404, message: `nothing at ${pathname}` } } }
    signedIn += 1
    const expires_at = new Date(Date.now() + life * 1_000).toISOString()
    return {
      status: 201,
      headers: { 'x-subject-token': `token-${signedIn}` },
      json: { token: { expires_at, user: { id: 'u' }, project: { id: 'p', name: 'p' }, roles: [], catalog: catalogue() } },
    }
  }
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      asked.push(`${request.method} ${request.url}`)
      bodies.push(body)
      headers.push(request.headers)
      const reply = answer(request, body)
      if (reply === 'hangs') return
      if (reply === 'breaks') return void request.socket.destroy()
      const { status = 200, json, text: said, headers: more } = reply
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(said ?? (json === undefined ? '' : JSON.stringify(json)))
    })
  }
  const server = createServer(serve)
  let cloud: OpenStack & { close(): Promise<void> }
  const user = { user: { name: 'u', domain: { id: 'default' } }, password: 'secret', project: { id: 'p' } }
  const open = (more: object = {}) => createOpenStack({ name: '云', authUrl: url, credentials: user, timeoutMs: 5_000, ...more })

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    cloud = open()
  })
  afterAll(async () => {
    await cloud.close()
    await new Promise((resolve) => server.close(resolve))
  })
  beforeEach(() => {
    ;[asked, bodies, headers, replies, life] = [[], [], [], {}, 3_600]
  })

  it('tells the kind of a refusal by its status, and where that is too coarse by its text', async () => {
    const cases: [number, unknown, string][] = [
      [400, { badRequest: { code: 400, message: 'Invalid input for field/attribute name.' } }, 'invalid'],
      [400, { badRequest: { code: 400, message: 'No valid host was found. There are not enough hosts available.' } }, 'exhausted'],
      [400, { badRequest: { code: 400, message: 'Invalid volume: Volume status must be available or error' } }, 'busy'],
      [403, { forbidden: { code: 403, message: "Policy doesn't allow os_compute_api:servers:create to be performed." } }, 'unauthorized'],
      [403, { forbidden: { code: 403, message: 'Quota exceeded for instances: Requested 1, but already used 10 of 10 instances' } }, 'exhausted'],
      [413, { overLimit: { code: 413, message: 'VolumeSizeExceedsAvailableQuota' } }, 'exhausted'],
      [409, { NeutronError: { type: 'OverQuota', message: "Quota exceeded for resources: ['port'].", detail: '' } }, 'exhausted'],
      [409, { NeutronError: { type: 'IpAddressGenerationFailure', message: 'No more IP addresses available on network x.', detail: '' } }, 'exhausted'],
      [409, { NeutronError: { type: 'NetworkInUse', message: 'Unable to complete operation on network x.', detail: '' } }, 'busy'],
      [409, { conflictingRequest: { code: 409, message: "Cannot 'start' instance x while it is in vm_state active" } }, 'busy'],
      [409, { conflictingRequest: { code: 409, message: "Key pair 'x' already exists." } }, 'conflict'],
      [404, { itemNotFound: { code: 404, message: 'Instance x could not be found.' } }, 'not_found'],
      [405, undefined, 'unsupported'],
      [406, { errors: [{ title: 'Version 2.90 is not supported by the API.', detail: 'Minimum is 2.1' }] }, 'unsupported'],
      [429, undefined, 'unreachable'],
      [500, { computeFault: { code: 500, message: 'Unexpected API Error.' } }, 'failed'],
      [500, { computeFault: { code: 500, message: "Unexpected API Error.\n<class 'nova.exception.UnexpectedTaskStateError'>" } }, 'busy'],
      [501, undefined, 'unsupported'],
      [500, { computeFault: { code: 500, message: "Unexpected API Error.\n<class 'oslo_messaging.exceptions.MessagingTimeout'>" } }, 'unanswered'],
      [502, undefined, 'unanswered'],
      [503, undefined, 'unreachable'],
      [504, undefined, 'unanswered'],
      [302, undefined, 'bad_answer'],
    ]
    for (const [status, json, kind] of cases) {
      replies = { 'POST /network/v2.0/networks': { status, json, headers: { 'x-openstack-request-id': 'req-42' } } }
      await expect(cloud.network.networks.create({ name: 'x' }), `${status} ${JSON.stringify(json)}`).rejects.toMatchObject({
        name: 'OpenStackError',
        kind,
        status,
        cloud: '云',
        service: 'network',
        requestId: 'req-42',
      })
    }
    // Whatever it was, it was asked once.
    expect(asked.filter((one) => one.startsWith('POST /network'))).toHaveLength(cases.length)
  })

  it('tells which quotas are used up, in the words of each service', async () => {
    const cases: [string, string[]][] = [
      ['Quota exceeded for instances, cores: Requested 1, 2, but already used 10, 20 of 10, 20 instances, cores', ['instances', 'cores']],
      ['Quota exceeded, too many server groups.', ['server_groups']],
      ['Maximum number of ports exceeded', ['port']],
      ["Quota exceeded for resources: ['port', 'floatingip'].", ['port', 'floatingip']],
      ["VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes_ssd'.", ['volumes']],
      [
        'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 10G, quota is 1000G and 998G has been consumed.',
        ['gigabytes'],
      ],
      ['SnapshotLimitExceeded: Maximum number of snapshots allowed (10) exceeded', ['snapshots']],
      ['VolumeBackupSizeExceedsAvailableQuota: Requested backup exceeds allowed Backup gigabytes quota. Requested 1G, quota is 1G', ['backup_gigabytes']],
      ['No valid host was found. There are not enough hosts available.', []],
      ['No more IP addresses available on network x.', []],
    ]
    for (const [message, quotas] of cases) {
      replies = { 'POST /network/v2.0/networks': { status: 403, json: { forbidden: { code: 403, message } } } }
      await expect(cloud.network.networks.create({ name: 'x' }), message).rejects.toMatchObject({ kind: 'exhausted', quotas })
    }
  })

  it('tells of a quota what is asked, used and allowed, as far as the service says it', async () => {
    const cases: [string, [string, object][]][] = [
      [
        'Quota exceeded for instances, cores: Requested 1, 2, but already used 10, 19 of 10, 20 instances, cores',
        [
          ['instances', { asked: 1, used: 10, limit: 10 }],
          ['cores', { asked: 2, used: 19, limit: 20 }],
        ],
      ],
      [
        'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 10G, quota is 1000G and 998G has been consumed.',
        [['gigabytes', { asked: 10, used: 998, limit: 1000 }]],
      ],
      [
        'VolumeBackupSizeExceedsAvailableQuota: Requested backup exceeds allowed Backup gigabytes quota. Requested 2G, quota is 1G',
        [['backup_gigabytes', { asked: 2, used: null, limit: 1 }]],
      ],
      ["VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes'.", [['volumes', { asked: null, used: null, limit: 10 }]]],
      ["Quota exceeded for resources: ['floatingip'].", []],
    ]
    for (const [message, figures] of cases) {
      replies = { 'POST /network/v2.0/networks': { status: 403, json: { forbidden: { code: 403, message } } } }
      await expect(cloud.network.networks.create({ name: 'x' }), message).rejects.toMatchObject({ quotaFigures: new Map(figures) })
    }
  })

  it('tells a change that no answer came to from a cloud that nobody reaches', async () => {
    const own = open({ timeoutMs: 150 })
    const path = '/network/v2.0/networks'
    await own.session.whoami()
    replies = { [`POST ${path}`]: 'hangs', [`DELETE ${path}/n`]: 'hangs', [`GET ${path}/n`]: 'hangs' }
    await expect(own.network.networks.create({ name: 'x' })).rejects.toMatchObject({ kind: 'unanswered', service: 'network' })
    await expect(own.network.networks.delete('n')).rejects.toMatchObject({ kind: 'unanswered' })
    // What only reads changes nothing.
    await expect(own.network.networks.get('n')).rejects.toMatchObject({ kind: 'unreachable' })
    replies = { [`POST ${path}`]: 'breaks' }
    await expect(own.network.networks.create({ name: 'x' })).rejects.toMatchObject({ kind: 'unanswered' })
    await own.close()
    // Nobody there: nothing was changed, and neither was it where Keystone does not answer.
    const away = open({ endpoints: { network: 'http://127.0.0.1:1' } })
    await expect(away.network.networks.create({ name: 'x' })).rejects.toMatchObject({ kind: 'unreachable' })
    await away.close()
    replies = { 'POST /v3/auth/tokens': 'hangs' }
    const silent = open({ timeoutMs: 150 })
    await expect(silent.network.networks.create({ name: 'x' })).rejects.toMatchObject({ kind: 'unreachable', service: 'identity' })
    await silent.close()
  })

  it('tells a project that nobody is let into from an account that is refused', async () => {
    const own = open()
    const inside = own.within({ id: 'q' })
    let reads: Reply = { json: { project: { id: 'q', name: 'q', enabled: false } } }
    let refusesAll = false
    const signIn = (body: unknown): Reply => {
      const within = JSON.stringify(body).includes('"project":{"id":"q"}')
      if (within || refusesAll) return { status: 401, json: { error: { code: 401, message: 'The request you have made requires authentication.' } } }
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      return {
        status: 201,
        headers: { 'x-subject-token': 'home' },
        json: { token: { expires_at, user: { id: 'u' }, project: { id: 'p', name: 'p' }, roles: [], catalog: catalogue() } },
      }
    }
    replies = { 'POST /v3/auth/tokens': signIn, 'GET /v3/projects/q': () => reads }
    const asked = () => all(inside.network.networks.list())
    await expect(asked()).rejects.toMatchObject({ kind: 'unauthorized', project: 'disabled' })
    reads = { json: { project: { id: 'q', name: 'q', enabled: true } } }
    await expect(asked()).rejects.toMatchObject({ kind: 'unauthorized', project: 'role' })
    reads = { status: 404, json: { error: { code: 404, message: 'Could not find project: q.' } } }
    await expect(asked()).rejects.toMatchObject({ kind: 'unauthorized', project: 'gone' })
    // Whoever may not look is told nothing, and neither is one whose own sign-in is refused.
    reads = { status: 403, json: { error: { code: 403, message: 'You are not authorized.' } } }
    await expect(asked()).rejects.toMatchObject({ kind: 'unauthorized', project: null })
    await own.close()
    refusesAll = true
    const wrong = open()
    await expect(all(wrong.within({ id: 'q' }).network.networks.list())).rejects.toMatchObject({ kind: 'unauthorized', project: null })
    await wrong.close()
  })

  it('says that a cloud is too old, or speaks another version', async () => {
    for (const [version, told] of [
      [{ version: '2.40', min_version: '2.1' }, /2\.40 is older than 2\.47/],
      [{ version: '2.120', min_version: '2.95' }, /begins with 2\.95/],
      [{ version: '', min_version: '' }, /no version/],
      [{ version: '9.1', min_version: '9.0' }, /no version/],
    ] as const) {
      replies = { 'GET /compute/v2.1/': { json: { version: { id: 'v2.1', status: 'CURRENT', ...version } } } }
      await expect(cloud.session.version('compute')).rejects.toThrow(told)
    }
    replies = { 'GET /compute/v2.1/': { json: { version: { version: '2.60', min_version: '2.1' } } }, 'GET /compute/v2.1/servers/x': { status: 404 } }
    // What went wrong before was not kept.
    expect(await cloud.session.version('compute')).toEqual([2, 60])
    await expect(cloud.compute.servers.get('x')).rejects.toMatchObject({ kind: 'not_found' })
    expect(headers.at(-1)).toMatchObject({
      'openstack-api-version': 'compute 2.60',
      'x-auth-token': expect.stringMatching(/^token-/),
      'x-openstack-request-id': expect.stringMatching(/^req-[0-9a-f-]{36}$/),
    })
  })

  it('ends a list that goes round in circles', async () => {
    replies = {
      'GET /network/v2.0/networks': {
        json: { networks: [{ id: 'n' }], networks_links: [{ rel: 'next', href: 'http://inside:9696/v2.0/networks?limit=500&marker=n' }] },
      },
    }
    await expect(all(cloud.network.networks.list())).rejects.toMatchObject({ kind: 'bad_answer' })
    // The second page was asked for where this cloud is reached, not where it sees itself.
    expect(asked.filter((one) => one.includes('marker=n'))).toHaveLength(1)
  })

  it('says that nobody is let in who was just let in', async () => {
    replies = { 'GET /network/v2.0/networks': { status: 401, json: { error: { code: 401, message: 'no' } } } }
    await expect(all(cloud.network.networks.list())).rejects.toMatchObject({ kind: 'unauthorized', service: 'network' })
    expect(asked.filter((one) => one.startsWith('GET /network'))).toHaveLength(2)
  })

  it('renews a token that is about to end, and signs in once for many', async () => {
    const own = open()
    replies = { 'GET /network/v2.0/networks': { json: { networks: [] } } }
    life = 30
    signedIn = 0
    await all(own.network.networks.list())
    await all(own.network.networks.list())
    expect(signedIn).toBe(2)
    life = 3_600
    await Promise.all(Array.from({ length: 20 }, () => all(own.network.networks.list())))
    await all(own.network.networks.list())
    expect(signedIn).toBe(3)
    await own.close()
  })

  it('ends one waiting, not the signing in of the others', async () => {
    const own = open()
    replies = { 'GET /network/v2.0/networks': { json: { networks: [] } } }
    const leaving = new AbortController()
    const one = all(own.network.networks.list({}, leaving.signal))
    const other = all(own.network.networks.list())
    leaving.abort()
    await expect(one).rejects.toMatchObject({ kind: 'cancelled' })
    expect(await other).toEqual([])
    await own.close()
    await expect(all(own.network.networks.list())).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('asks once for what several look at, for a while and until something is changed', async () => {
    const own = open()
    const looking = own.sharing()
    let networks: unknown[] = []
    replies = {
      'GET /network/v2.0/networks': () => ({ json: { networks } }),
      'POST /network/v2.0/networks': { json: { network: { id: 'n' } } },
    }
    const look = (signal?: AbortSignal) => all(looking.network.networks.list({}, signal))
    const times = () => asked.filter((one) => one.startsWith('GET /network')).length
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
    try {
      // Whoever leaves ends it for nobody else.
      const leaving = new AbortController()
      const left = look(leaving.signal)
      const stayed = [look(), look()]
      leaving.abort()
      await expect(left).rejects.toMatchObject({ kind: 'cancelled' })
      expect(await Promise.all(stayed)).toEqual([[], []])
      expect(times()).toBe(1)
      networks = [{ id: 'n' }]
      expect(await look()).toEqual([])
      // Somebody changed it behind our back: looked at anew within the time in which people look.
      now.mockReturnValue(3_100)
      expect(await look()).toMatchObject([{ id: 'n' }])
      expect(times()).toBe(2)
      // Whoever is about to change something, and whoever asks for something else, is told what is true now.
      await all(own.network.networks.list())
      await all(looking.network.networks.list({ name: 'x' }))
      expect(times()).toBe(4)
      networks = [{ id: 'n' }, { id: 'm' }]
      await own.network.networks.create({ name: 'x' })
      expect(await look()).toHaveLength(2)
      // What failed is not shared with who comes later.
      replies['GET /network/v2.0/networks'] = { status: 400, json: {} }
      now.mockReturnValue(9_000)
      await expect(look()).rejects.toMatchObject({ kind: 'invalid' })
      replies['GET /network/v2.0/networks'] = { json: { networks: [] } }
      expect(await look()).toEqual([])
    } finally {
      now.mockRestore()
      await own.close()
    }
  })

  it('tells whoever looks again that a slow service fails by now, whatever it answered before', async () => {
    const own = open()
    const looking = own.sharing()
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
    replies = {
      'GET /network/v2.0/networks': () => {
        now.mockReturnValue(21_000)
        return { json: { networks: [] } }
      },
    }
    const look = () => all(looking.network.networks.list())
    try {
      expect(await look()).toEqual([])
      replies['GET /network/v2.0/networks'] = { status: 500, json: {} }
      now.mockReturnValue(24_900)
      expect(await look()).toEqual([])
      now.mockReturnValue(26_000)
      await expect(look()).rejects.toMatchObject({ service: 'network' })
    } finally {
      now.mockRestore()
      await own.close()
    }
  })

  it('tells Keystone who asks, and shows the password to nobody', async () => {
    replies = {
      'POST /v3/auth/tokens': {
        status: 401,
        json: { error: { code: 401, message: 'The request you have made requires authentication.', title: 'Unauthorized' } },
      },
    }
    const domain = open({ credentials: { ...user, project: undefined, domain: { name: 'Default' } } })
    const refused = await domain.session.whoami().catch((error: unknown) => error)
    expect(bodies.at(-1)).toEqual({
      auth: { identity: { methods: ['password'], password: { user: { ...user.user, password: 'secret' } } }, scope: { domain: { name: 'Default' } } },
    })
    expect(JSON.stringify([refused, String(refused)])).not.toContain('secret')
    const application = open({ credentials: { applicationCredential: { id: 'a', secret: 'hidden' } } })
    await expect(application.session.whoami()).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(bodies.at(-1)).toEqual({ auth: { identity: { methods: ['application_credential'], application_credential: { id: 'a', secret: 'hidden' } } } })
    await Promise.all([domain.close(), application.close()])
    replies = { 'POST /v3/auth/tokens': { status: 201, json: { token: { expires_at: 'soon', user: { id: 'u' } } } } }
    const odd = open()
    await expect(odd.session.whoami()).rejects.toMatchObject({ kind: 'bad_answer', service: 'identity' })
    await odd.close()
  })

  it('signs in anew where a token is refused before the version of a service is known', async () => {
    const own = open()
    const revoked = (json: unknown) => {
      let refused = false
      return (): Reply => {
        if (refused) return { json }
        refused = true
        return { status: 401, json: { error: { code: 401, message: 'revoked' } } }
      }
    }
    const version = { version: { id: 'v2.1', status: 'CURRENT', version: '2.90', min_version: '2.1' } }
    replies = { 'GET /compute/v2.1/': revoked(version), 'GET /compute/v2.1/servers': { json: { servers: [] } } }
    signedIn = 0
    expect(await all(own.compute.servers.names())).toEqual([])
    expect(signedIn).toBe(2)
    replies = { 'GET /compute/v2.1/': revoked(version) }
    expect(await own.session.offered('compute')).toBe('2.90')
    expect(signedIn).toBe(3)
    await own.close()
    const other = open()
    replies = { 'GET /compute/v2.1/': revoked(version) }
    expect(await other.session.version('compute')).toEqual([2, 90])
    expect(signedIn).toBe(5)
    replies = { 'GET /compute/v2.1/': { status: 401 } }
    await expect(other.session.offered('compute')).rejects.toMatchObject({ kind: 'unauthorized' })
    await other.close()
  })

  it('takes a volume for deleted that says on the second attempt that it is being deleted, and nothing else', async () => {
    const refused: Reply = {
      status: 400,
      json: {
        badRequest: {
          code: 400,
          message: 'Invalid volume: Volume status must be available or error and must not be migrating, attached, belong to a group or have snapshots.',
        },
      },
    }
    const volume = (status: string) => ({ json: { volume: { id: 'v', status, size: 1 } } })
    const set = (answers: readonly Reply[], now: Reply) => {
      const left = [...answers]
      replies = {
        'GET /volumev3/v3/': { json: { version: { version: '3.60', min_version: '3.0' } } },
        'GET /volumev3/v3/p/volumes/v': now,
        'DELETE /volumev3/v3/p/volumes/v': () => left.shift() ?? refused,
      }
    }
    const lost: Reply = { status: 503 }
    set([lost, refused], volume('deleting'))
    await cloud.volume.volumes.delete('v', true)
    set([lost, refused], { status: 404 })
    await cloud.volume.volumes.delete('v')
    set([lost, refused], volume('available'))
    await expect(cloud.volume.volumes.delete('v')).rejects.toMatchObject({ kind: 'busy' })
    set([lost, refused], { status: 500 })
    await expect(cloud.volume.volumes.delete('v')).rejects.toMatchObject({ kind: 'busy' })
    // Whoever asks once is told that somebody else deletes it.
    set([refused], volume('deleting'))
    await expect(cloud.volume.volumes.delete('v')).rejects.toMatchObject({ kind: 'busy' })
  })

  it('repeats nothing of an answer that it cannot read', async () => {
    replies = { 'POST /network/v2.0/networks': { text: '{"adminPass": "Hunter2", ' } }
    const error: unknown = await cloud.network.networks.create({ name: 'x' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ kind: 'bad_answer', service: 'network' })
    for (let cause = error; cause instanceof Error; cause = cause.cause) expect(`${cause.message} ${cause.stack}`).not.toMatch(/Hunter2|adminPass/)
  })

  it('speaks to a firewall service where a cloud has one', async () => {
    const group = { id: 'g', name: '边界', status: 'ACTIVE', ingress_firewall_policy_id: 'p', ports: ['a'] }
    replies = {
      'POST /network/v2.0/fwaas/firewall_rules': (body) => ({
        status: 201,
        json: { firewall_rule: { id: 'r', ...z.object({ firewall_rule: z.record(z.string(), z.unknown()) }).parse(body).firewall_rule } },
      }),
      'PUT /network/v2.0/fwaas/firewall_policies/p': { json: { firewall_policy: { id: 'p', firewall_rules: ['r'] } } },
      'GET /network/v2.0/fwaas/firewall_groups': { json: { firewall_groups: [group] } },
    }
    const { rules, policies, groups } = cloud.network.firewalls
    const rule = await rules.create({ action: 'deny', protocol: 'tcp', sourceAddress: '192.0.2.0/24', destinationPort: '22:23', enabled: false })
    expect(bodies.at(-1)).toEqual({
      firewall_rule: { action: 'deny', protocol: 'tcp', source_ip_address: '192.0.2.0/24', destination_port: '22:23', enabled: false },
    })
    expect(rule).toMatchObject({ id: 'r', action: 'deny', destinationPort: '22:23', enabled: false, version: 4 })
    expect((await policies.update('p', { ruleIds: ['r'] })).ruleIds).toEqual(['r'])
    expect(bodies.at(-1)).toEqual({ firewall_policy: { firewall_rules: ['r'] } })
    expect(await all(groups.list())).toEqual([
      {
        id: 'g',
        name: '边界',
        description: '',
        status: 'ACTIVE',
        enabled: true,
        ingressPolicyId: 'p',
        egressPolicyId: null,
        portIds: ['a'],
        shared: false,
        projectId: null,
      },
    ])
    replies['PUT /network/v2.0/fwaas/firewall_policies/p/insert_rule'] = { json: { id: 'p', firewall_rules: ['q', 'r'] } }
    replies['PUT /network/v2.0/fwaas/firewall_policies/p/remove_rule'] = { json: { id: 'p', firewall_rules: ['r'] } }
    expect((await policies.insertRule('p', 'q', { before: 'r' })).ruleIds).toEqual(['q', 'r'])
    expect(bodies.at(-1)).toEqual({ firewall_rule_id: 'q', insert_before: 'r' })
    await policies.insertRule('p', 'q')
    expect(bodies.at(-1)).toEqual({ firewall_rule_id: 'q' })
    expect((await policies.removeRule('p', 'q')).ruleIds).toEqual(['r'])
    expect(bodies.at(-1)).toEqual({ firewall_rule_id: 'q' })
  })

  it('refuses addresses that are none', () => {
    for (const authUrl of ['', 'keystone', 'ftp://cloud/v3']) expect(() => open({ authUrl })).toThrow(/not an address of Keystone/)
  })
})
