import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors, images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { auth } from '@zhisuan/contract/ums/auth'
import { asAdministrator, Client, startServer, until } from '../support/server.ts'
import { codeFor, newPhone } from './inbox.ts'
import { keepStage, password, type Stage } from './stage.ts'

/** One server for all browser tests, with the sandbox as its cloud, some people and some instances. */
export default async function setup(): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'zhisuan-browser-'))
  // Each test comes from an address of its own, so that none spends another's share of requests.
  const server = await startServer(dataDir, { LOCAL_CLOUD: 'sandbox', TRUST_PROXY: '1' })
  const end = async (): Promise<void> => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const administrator = await asAdministrator(server)
    const tenant = await register(server.url, 'browser-tenant')
    const tenantAdmin = await register(server.url, 'browser-owner', '浏览器测试组织')
    const cloudId = (await administrator.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    keepStage({ url: server.url, cloudId, tenant, tenantAdmin, vmId: await makeInstances(server.url, tenant, cloudId) })
    return end
  } catch (error) {
    await end()
    throw error
  }
}

/** Registers by a code, as anybody does. */
async function register(url: string, username: string, organisation?: string): Promise<Stage['tenant']> {
  const phone = newPhone()
  const client = new Client(url)
  await fetch(`${url}/api/ums/v1/verification/registration/sms/${phone}`)
  const code = await codeFor(url, phone)
  await client.call(auth.register, { body: { username, phone, code, password, ...(organisation !== undefined && { organisation }) } })
  return { username, phone, password }
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
      body: { cloud_id: cloudId, name, count, type: 'container', image_fingerprint: image?.fingerprint, network: network?.name, flavor_id: flavor?.id, password },
    })
  const { items } = await make('示例实例', 1)
  await make('batch', 12)
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === 13, 'the instances to run', 60_000)
  return items[0]?.id ?? ''
}
