import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import type { Call } from '@zhisuan/contract/define'
import { fileEntries, fileShares, fileSpaces } from '@zhisuan/contract/files/file'
import { machineCopies } from '@zhisuan/contract/files/machine'
import { cards } from '@zhisuan/contract/market/card'
import { rentals, waits } from '@zhisuan/contract/market/rental'
import { modelFiles, models } from '@zhisuan/contract/models/model'
import { alarms, alarmWindows, receivers } from '@zhisuan/contract/omc/alarm'
import { eventSubscriptions } from '@zhisuan/contract/omc/event'
import { tickets } from '@zhisuan/contract/ticket/ticket'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { call, refused, send, type AnyInput } from './testing/call.ts'
import { cardNode, listed, providing, type CardNode } from './testing/market.ts'
import { someone, type Person, type SignedIn } from './testing/people.ts'

/** What nodes, containers and applications tell a stranger is swept beside them (modules/cis/access). */
const families = /^(market|omc|split|ticket|files|models|ims)\./

let app: TestApp
/** Has cards in the market, and everything else. */
let owner: Person & SignedIn
let renter: Person & SignedIn
let stranger: Person & SignedIn
let node: CardNode
const names = [
  'edge',
  'provider',
  'card',
  'offer',
  'rental',
  'container',
  'wait',
  'receiver',
  'delivery',
  'alarm',
  'alarmWindow',
  'alertLog',
  'task',
  'subscription',
  'space',
  'entry',
  'binned',
  'upload',
  'share',
  'copy',
  'model',
  'staged',
  'ticket',
  'ticketUpload',
  'registry',
  'project',
  'repository',
  'tag',
  'third',
  'preheat',
] as const
/** Of the owner, or of the renter, by what calls name them. */
const own = Object.fromEntries(names.map((name) => [name, randomUUID() as string])) as Record<(typeof names)[number], string>
/** Of the platform: everybody may see it. */
const shared = new Set<string>(['registry', 'provider', 'offer'])
const soon = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString()
const alarmBody = { name: 'busy', severity: 'warning', rule: { kind: 'promql', query: 'up == 0' } } as const
const windowBody = () => ({ name: 'night', starts_at: soon(1), ends_at: soon(2) })
const about = { title: 'm' }

beforeAll(async () => {
  app = await testApp({ APPS_PORT: '0', APPS_URL: 'http://localhost:1' })
  const admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  renter = await someone(app)
  stranger = await someone(app)
  const { token } = owner
  node = await cardNode(app, token)
  own.edge = node.edge.id
  own.provider = await providing(app, owner, admin, [node], '华东算力')
  own.offer = (await listed(app, owner, admin)).id
  own.card = (await call(app, cards.list, { token, query: {} })).items[0]?.id ?? ''
  own.rental = (await call(app, rentals.create, { token: renter.token, body: { name: 'mine', offer_id: own.offer, image: 'app:1' } })).id
  own.wait = (await call(app, waits.create, { token: renter.token, body: { offer_id: own.offer, count: 2 } })).id
  await vi.waitFor(async () => {
    const { status, container_id } = await call(app, rentals.get, { token: renter.token, params: { id: own.rental } })
    expect(status).toBe('running')
    own.container = container_id ?? ''
  }, 10_000)

  own.receiver = (await call(app, receivers.create, { token, body: { name: 'mail', kind: 'mail', addresses: ['a@example.com'] } })).id
  await call(app, receivers.test, { token, params: { id: own.receiver } })
  own.delivery = (await call(app, receivers.deliveries, { token, params: { id: own.receiver }, query: {} })).items[0]?.id ?? ''
  own.alarm = (await call(app, alarms.create, { token, body: { ...alarmBody, receiver_ids: [own.receiver] } })).id
  own.subscription = (await call(app, eventSubscriptions.create, { token, body: { name: 'all', receiver_ids: [own.receiver] } })).id
  own.alarmWindow = (await call(app, alarmWindows.create, { token, body: windowBody() })).id
  await sql`insert into alert_logs (id, bp_id, alarm_id, alarm_name, fingerprint, starts_at, told_at, severity, status, summary, labels)
    values (${own.alertLog}, ${owner.bp_id}, ${own.alarm}, 'busy', '\\x00', now(), now(), 'warning', 'firing', 'secret', '{}')`.execute(app.platform.db)

  await sql`insert into operations (id, kind, resource_type, resource_id, resource_name, bp_id, actor_name, status, steps_total, input, finished_at)
    values (${own.task}, 'cis.container.delete', 'cis.container', ${own.container}, 'secret', ${owner.bp_id}, '', 'failed', 1, '', now())`.execute(
    app.platform.db,
  )

  const spaces = (await call(app, fileSpaces.list, { token: renter.token })).items
  own.space = spaces.find(({ kind }) => kind === 'organisation')?.id ?? ''
  const folder = (name: string) => call(app, fileSpaces.createFolder, { token: renter.token, params: { id: own.space }, body: { name } })
  own.entry = (await folder('data')).id
  own.binned = (await folder('old')).id
  await call(app, fileEntries.delete, { token: renter.token, body: { ids: [own.binned] } })
  own.upload = (await call(app, fileSpaces.upload, { token: renter.token, params: { id: own.space }, body: { name: 'f', size_bytes: 5 } })).id
  own.share = (await call(app, fileShares.create, { token: renter.token, body: { entry_id: own.entry } })).id
  const machine = { kind: 'cis.container', id: own.container } as const
  own.copy = (await call(app, machineCopies.toMachine, { token: renter.token, body: { machine, path: '/', entry_id: own.entry } })).id

  own.model = (await call(app, models.create, { token, body: { namespace: 'theirs', name: 'm', ...about } })).id
  own.staged = (await call(app, modelFiles.upload, { token, params: { id: own.model }, body: { size_bytes: 5 } })).id
  own.ticket = (await call(app, tickets.create, { token, body: { title: 'secret', type: 'fault', text: 'x' } })).id
  own.ticketUpload = (await call(app, tickets.upload, { token, body: { name: 'f', size_bytes: 5 } })).id

  const { bp_id } = owner
  await sql`insert into registries (id, name, description, engine, origin, status, url, address, ours, connection, health, created_by_name)
    values (${own.registry}, 'r', '', 'distribution', 'registered', 'active', 'https://127.0.0.1:1', '127.0.0.1:1', false, '', 'unreachable', '')`.execute(
    app.platform.db,
  )
  await sql`insert into registry_projects (id, registry_id, name, bp_id, description, visibility, immutable_tags, keep_rules, bin_days, created_by_name)
    values (${own.project}, ${own.registry}, 'p', ${bp_id}, '', 'private', '{}', '[]', 7, '')`.execute(app.platform.db)
  await sql`insert into registry_repositories (id, project_id, bp_id, name) values (${own.repository}, ${own.project}, ${bp_id}, 'app')`.execute(
    app.platform.db,
  )
  await sql`insert into registry_tags (id, repository_id, name, digest, size_bytes, pushed_at) values (${own.tag}, ${own.repository}, '1', 'sha256:0', 1, now())`.execute(
    app.platform.db,
  )
  await sql`insert into third_registries (id, bp_id, name, description, address, url, connection, health, browsable, created_by_name)
    values (${own.third}, ${bp_id}, 't', '', '127.0.0.1:1', 'https://127.0.0.1:1', '', 'unreachable', true, '')`.execute(app.platform.db)
  await sql`insert into preheats (id, bp_id, third_registry_id, images, status, at_once, starts_at, ended_at, created_by_name)
    values (${own.preheat}, ${bp_id}, ${own.third}, '{app:1}', 'failed', 1, now(), now(), '')`.execute(app.platform.db)
}, 60_000)
afterAll(async () => {
  node.stop()
  await app.close()
})

const of = (name: keyof typeof own, more: AnyInput = {}) => ({ params: { id: own[name] }, ...more })
const entries = () => ({ body: { ids: [own.entry] } })
const inProject = (more: AnyInput = {}) => ({ ...more, params: { id: own.registry, pid: own.project } })
const inRepository = (more: AnyInput = {}) => ({ ...more, params: { id: own.registry, pid: own.project, name: 'app', tag: '1' } })
const machine = () => ({ kind: 'cis.container', id: own.container })

/** What a stranger asks with, of a call that names something of others. A call that names something and is not here fails the sweep. */
const asked: Readonly<Record<string, () => AnyInput>> = {
  'market.provider.get': () => of('provider'),
  'market.provider.update': () => of('provider', { body: { name: 'x', contact: '010-1', description: '' } }),
  'market.income.list': () => of('provider'),
  'market.node.test': () => of('edge'),
  'market.node.enlist': () => of('edge'),
  'market.node.withdraw': () => of('edge'),
  'market.card.clear': () => of('card'),
  'market.offer.get': () => of('offer'),
  'market.offer.action': () => of('offer', { body: { action: 'pause' } }),
  'market.rental.get': () => of('rental'),
  'market.rental.stop': () => of('rental'),
  'market.rental.start': () => of('rental'),
  'market.rental.move': () => of('rental'),
  'market.rental.limit': () => of('rental', { body: {} }),
  'market.rental.open': () => of('rental', { body: { app: 'jupyter' } }),
  'market.rental.release': () => of('rental'),
  'market.wait.delete': () => of('wait'),
  'omc.alarm.get': () => of('alarm'),
  'omc.alarm.update': () => of('alarm', { body: alarmBody }),
  'omc.alarm.delete': () => of('alarm'),
  'omc.alarm.activate': () => of('alarm', { query: { action: 'deactive' } }),
  'omc.alarmWindow.update': () => of('alarmWindow', { body: windowBody() }),
  'omc.alarmWindow.delete': () => of('alarmWindow'),
  'omc.alertLog.process': () => of('alertLog', { body: { note: 'x' } }),
  'omc.receiver.update': () => of('receiver', { body: { name: 'x', kind: 'mail', addresses: ['b@example.com'] } }),
  'omc.receiver.delete': () => of('receiver'),
  'omc.receiver.test': () => of('receiver'),
  'omc.receiver.deliveries': () => of('receiver'),
  'omc.receiver.again': () => ({ params: { id: own.receiver, delivery_id: own.delivery } }),
  'omc.task.cancel': () => of('task'),
  'omc.eventSubscription.update': () => of('subscription', { body: { name: 'x', receiver_ids: [own.receiver] } }),
  'omc.eventSubscription.delete': () => of('subscription'),
  'omc.prometheus.query': () => ({ params: { id: randomUUID() }, query: { query: 'up' } }),
  'files.space.entries': () => of('space'),
  'files.space.createFolder': () => of('space', { body: { name: 'x' } }),
  'files.space.upload': () => of('space', { body: { name: 'x', size_bytes: 1 } }),
  'files.space.uploadMany': () => of('space', { body: { files: [{ name: 'x', size_bytes: 1, content: 'eA==' }] } }),
  'files.entry.get': () => of('entry'),
  'files.entry.rename': () => of('entry', { body: { name: 'x' } }),
  'files.entry.move': entries,
  'files.entry.copy': () => ({ body: { ids: [own.entry], space_id: own.space } }),
  'files.entry.delete': entries,
  'files.entry.restore': () => ({ body: { ids: [own.binned] } }),
  'files.entry.purge': () => ({ body: { ids: [own.binned] } }),
  'files.entry.download': entries,
  'files.upload.get': () => of('upload'),
  'files.upload.discard': () => of('upload'),
  'files.share.create': () => ({ body: { entry_id: own.entry } }),
  'files.share.delete': () => of('share'),
  'files.machine.toMachine': () => ({ body: { machine: machine(), path: '/', entry_id: own.entry } }),
  'files.machine.fromMachine': () => ({ body: { machine: machine(), path: '/', space_id: own.space } }),
  'files.machine.cancel': () => of('copy'),
  'models.model.get': () => of('model'),
  'models.model.update': () => of('model', { body: about }),
  'models.model.delete': () => of('model'),
  'models.model.submit': () => of('model'),
  'models.model.withdraw': () => of('model'),
  'models.model.accept': () => of('model', { body: { terms: 'x' } }),
  'models.file.list': () => of('model'),
  'models.file.upload': () => of('model', { body: { size_bytes: 1 } }),
  'models.file.unfinished': () => of('model'),
  'models.file.discard': () => ({ params: { id: own.model, upload_id: own.staged } }),
  'models.file.staged': () => ({ params: { id: own.model, upload_id: own.staged } }),
  'models.file.download': () => of('model', { body: { path: 'README.md' } }),
  'models.revision.list': () => of('model'),
  'models.revision.create': () => of('model', { body: { message: 'x' } }),
  'models.import.list': () => of('model'),
  'models.import.create': () => of('model', { body: { url: 'https://huggingface.co', repository: 'a/b' } }),
  'models.import.cancel': () => ({ params: { id: own.model, import_id: randomUUID() } }),
  'ticket.ticket.get': () => of('ticket'),
  'ticket.ticket.reply': () => of('ticket', { body: { text: 'x' } }),
  'ticket.ticket.confirm': () => of('ticket'),
  'ticket.ticket.reopen': () => of('ticket', { body: { reason: 'x' } }),
  'ticket.ticket.withdraw': () => of('ticket'),
  'ticket.ticket.urge': () => of('ticket'),
  'ticket.ticket.rate': () => of('ticket', { body: { score: 1 } }),
  'ticket.ticket.read': () => of('ticket'),
  'ticket.ticket.uploaded': () => of('ticketUpload'),
  'ticket.ticket.download': () => ({ params: { id: own.ticket, file_id: own.ticketUpload } }),
  'ims.project.update': () => inProject({ body: { description: '', visibility: 'public', immutable_tags: [], keep_rules: [], bin_days: 1 } }),
  'ims.project.delete': inProject,
  'ims.project.keepPreview': () => inProject({ body: { keep_rules: [] } }),
  'ims.repository.list': inProject,
  'ims.repository.get': inRepository,
  'ims.repository.update': () => inRepository({ body: { description: 'x' } }),
  'ims.repository.delete': inRepository,
  'ims.repository.buildHistory': () => inRepository({ query: { tag: '1', os: 'linux', architecture: 'amd64', variant: '' } }),
  'ims.repository.pull': inRepository,
  'ims.repository.push': inRepository,
  'ims.tag.list': inRepository,
  'ims.tag.delete': inRepository,
  'ims.tagBin.list': inProject,
  'ims.tagBin.restore': () => ({ params: { id: own.registry, pid: own.project, bin_id: own.tag } }),
  'ims.tagBin.delete': () => ({ params: { id: own.registry, pid: own.project, bin_id: own.tag } }),
  'ims.preheat.get': () => of('preheat'),
  'ims.preheat.retry': () => of('preheat'),
  'ims.preheat.delete': () => ({ query: { ids: own.preheat } }),
  'ims.preheat.createThird': () => of('third', { body: { images: [{ repository: 'app', tag: '1' }], nodes: { node_ids: [own.edge] } } }),
  'ims.thirdRegistry.get': () => of('third'),
  'ims.thirdRegistry.update': () => of('third', { body: { name: 'x', description: '', url: 'https://127.0.0.1:1' } }),
  'ims.thirdRegistry.delete': () => of('third'),
  'ims.thirdRegistry.repositories': () => of('third'),
  'ims.thirdRegistry.tags': () => of('third', { query: { repository: 'app' } }),
}
/** By the folder that it names this says in its own words that there is none. */
const unknown: Readonly<Record<string, number>> = { 'files.entry.copy': 97601 }
/** They make something of one's own, or name what all may see. */
const making = new Set([
  'market.provider.create',
  'market.offer.create',
  'market.rental.create',
  'market.wait.create',
  'models.model.create',
  'ticket.ticket.create',
  'ticket.ticket.upload',
  'omc.alarm.create',
  'omc.alarm.preview',
  'omc.alarmWindow.create',
  'omc.receiver.create',
  'omc.eventSubscription.create',
  'omc.apiLog.export',
  'omc.stat.nodes',
  'files.entry.publish',
  'ims.registryUser.create',
  'ims.command.create',
  'ims.project.create',
  'ims.thirdRegistry.create',
])
/** They tell what is one's own there, or what one may see of a registry. */
const within: Readonly<Record<string, () => AnyInput>> = {
  'files.machine.list': () => ({ params: machine() }),
  'ims.registry.get': () => of('registry'),
  'ims.project.list': () => of('registry'),
  'ims.repository.all': () => of('registry'),
}

const all = allCalls.filter(({ id }) => families.test(id))
const mayAsk = ({ access }: Call): boolean => !Array.isArray(access) || access.includes('TENANT')
const named = (declared: Call): boolean => declared.id in asked
/** With a word of these something of others was told. */
const told = (body: unknown): string[] => {
  const text = JSON.stringify(body)
  return names.filter((name) => !shared.has(name) && text.includes(own[name]))
}

describe('somebody of another organisation', () => {
  it.each(all.filter((declared) => mayAsk(declared) && named(declared)))('has no such thing by $id', async (declared) => {
    expect(await refused(app, declared, { token: stranger.token, ...asked[declared.id]?.() })).toMatchObject(
      declared.id in unknown ? { code: unknown[declared.id] } : { status: 404 },
    )
  })

  it.each(all.filter((declared) => mayAsk(declared) && !named(declared) && !making.has(declared.id) && declared.access !== 'public'))(
    'is told nothing of it by $id',
    async (declared) => {
      const input = within[declared.id]
      if (input === undefined && (declared.path.includes('{') || declared.method !== 'GET')) throw new Error(`${declared.id}: what would a stranger ask here?`)
      const answer = await send(app, declared, { token: stranger.token, ...input?.() })
      expect(told(answer.body)).toEqual([])
      for (const query of [
        { bp_id: owner.bp_id ?? '' },
        { edge_id: own.edge },
        { provider_id: own.provider },
        { alarm_id: own.alarm },
        { entry_id: own.entry },
      ])
        expect(told((await send(app, declared, { token: stranger.token, ...input?.(), query })).body)).toEqual([])
    },
  )

  it.each(all.filter((declared) => !mayAsk(declared)))('may not ask $id', async (declared) => {
    const params = Object.fromEntries([...declared.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, own.edge]))
    expect(await refused(app, declared, { token: stranger.token, params, body: {} })).toMatchObject({ status: 403 })
  })

  it('has changed nothing', async () => {
    expect(await call(app, rentals.get, { token: renter.token, params: { id: own.rental } })).toMatchObject({ status: 'running', name: 'mine' })
    expect(await call(app, alarms.get, { token: owner.token, params: { id: own.alarm } })).toMatchObject({ name: 'busy', status: 'active' })
    expect(await call(app, fileEntries.get, { token: renter.token, params: { id: own.entry } })).toMatchObject({ name: 'data' })
    expect((await call(app, models.get, { token: owner.token, params: { id: own.model } })).title).toBe('m')
    expect((await call(app, tickets.get, { token: owner.token, params: { id: own.ticket } })).title).toBe('secret')
  })
})
