import type { Locator, Page } from '@playwright/test'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { Client, until } from '../support/server.ts'
import { button } from './console.ts'
import { newName, register, someAddress } from './people.ts'
import { password, type Account } from './stage.ts'
import { stage } from './test.ts'

/** What is said where nothing answers. */
export const offline = '无法连接服务器，请检查网络后重试'

/** Somebody with instances of their own on a cloud, running. */
export async function withInstances(url: string, who: Account, cloudId: string, names: readonly string[]): Promise<{ client: Client; made: Vm[] }> {
  const client = new Client(url, someAddress())
  await client.signIn(who.username, who.password)
  const image = await until(
    async () => (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items.find(({ name }) => name === 'busybox'),
    'an image',
  )
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const flavor = (await client.call(flavors.list)).items.find(({ name }) => name === 'nano')
  const made: Vm[] = []
  for (const name of names) {
    const body = { cloud_id: cloudId, name, type: 'container', image_fingerprint: image.fingerprint, network: network?.name, flavor_id: flavor?.id, password }
    made.push(...(await client.call(vms.create, { body })).items)
  }
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === names.length, 'the instances to run', 60_000)
  return { client, made }
}

/** Opens an action of an instance from its row. */
export async function openAction(page: Page, instance: string, action: string): Promise<Locator> {
  await page.getByRole('row').filter({ hasText: instance }).getByRole('button', { name: '更多' }).click()
  await page.getByRole('menuitem', { name: action }).click()
  return page.getByRole('dialog')
}

/** The wizard, with everything chosen but what is typed. */
export async function openWizard(page: Page): Promise<void> {
  await page.goto('/nextStack/vm/add')
  await page.getByRole('radio', { name: /^轻量实例/ }).check()
  await page.getByRole('radio', { name: 'busybox' }).check()
  await page.getByRole('radio', { name: 'nano' }).check()
}

/** The form that registers a cloud. */
export async function openClouds(page: Page): Promise<Locator> {
  await page.goto('/infrastructure/cloudy')
  await button(page, '登记云平台').first().click()
  return page.getByRole('dialog', { name: '登记云平台' })
}

/** Somebody who has two instances, `first` and `second`. */
export async function ownerOfTwo(): Promise<Account> {
  const owner = await register(stage().url, newName('owner'))
  await withInstances(stage().url, owner, stage().cloudId, ['first', 'second'])
  return owner
}
