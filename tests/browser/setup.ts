import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FullConfig } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { openWayToOpenStack } from '../support/openstack.ts'
import { asAdministrator, Client, startServer, until } from '../support/server.ts'
import { register } from './people.ts'
import { begin, keepBegun, keepStage, password, type Stage } from './stage.ts'

/** A server for each worker, so that what one test changes for a whole platform changes no other's. */
export default async function setup({ workers }: FullConfig): Promise<() => Promise<void>> {
  const ends: (() => Promise<void>)[] = []
  const end = async (): Promise<void> => {
    for (const one of ends.toReversed()) await one()
  }
  try {
    if (cloudIsThere) {
      const close = await openWayToOpenStack()
      ends.push(async () => close())
    }
    await beginOne(ends)
    for (let worker = 0; worker < workers; worker++) await open(worker, ends)
    return end
  } catch (error) {
    await end()
    throw error
  }
}

/** What all servers of these tests begin with. */
async function beginOne(ends: (() => Promise<void>)[]): Promise<void> {
  const data = temporaryFolder('browser-begun')
  ends.push(async () => data.remove())
  const path = join(data.path, 'server')
  const server = await startServer(path, { LOCAL_CLOUD: 'none' })
  try {
    await asAdministrator(server)
  } finally {
    await server.stop()
  }
  // Nothing here outlives the run, so nothing has to reach the disk.
  appendFileSync(join(path, 'database', 'data', 'postgresql.auto.conf'), 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n')
  keepBegun(path)
}

/** A server with the sandbox as its cloud, some people and some instances. */
async function open(worker: number, ends: (() => Promise<void>)[]): Promise<void> {
  const data = temporaryFolder('browser')
  ends.push(async () => data.remove())
  // Each test comes from an address of its own, so that none spends another's share of requests.
  const appsPort = await freePort()
  const server = await startServer(begin(join(data.path, 'server')), {
    LOCAL_CLOUD: 'sandbox',
    TRUST_PROXY: '1',
    APPS_PORT: String(appsPort),
    APPS_URL: `http://localhost:${appsPort}`,
    SSH_PORT: String(await freePort()),
  })
  ends.push(() => server.stop())
  const administrator = await asAdministrator(server)
  const tenant = await register(server.url, 'browser-tenant')
  const tenantAdmin = await register(server.url, 'browser-owner', '浏览器测试组织')
  const cloudId = (await administrator.call(clouds.list)).clouds[0]?.cloud_id ?? ''
  keepStage(worker, { url: server.url, databaseUrl: server.databaseUrl, cloudId, tenant, tenantAdmin, vmId: await makeInstances(server.url, tenant, cloudId) })
}

/** A tenant's instances: one to look at, running, and more than a page of others. */
async function makeInstances(url: string, tenant: Stage['tenant'], cloudId: string): Promise<string> {
  const client = new Client(url)
  await client.signIn(tenant.username, tenant.password)
  const [image] = (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const [flavor] = (await client.call(flavors.list)).items
  const make = async (name: string, count: number) =>
    client.call(vms.create, {
      body: {
        cloud_id: cloudId,
        name,
        count,
        type: 'container',
        image_fingerprint: image?.fingerprint,
        network: network?.name,
        flavor_id: flavor?.id,
        password,
      },
    })
  const { items } = await make('示例实例', 1)
  await make('batch', 12)
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === 13, 'the instances to run', 60_000)
  return items[0]?.id ?? ''
}
