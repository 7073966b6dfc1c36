import type { BrowserContext } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { administratorPassword, Client } from '../support/server.ts'
import { newName, someAddress } from './people.ts'
import { PlayedCloud, playedPassword } from './playedCloud.ts'
import { signIn, stage } from './test.ts'

/** A played cloud that is registered, and chosen in this browser; `end` takes it away again. */
export async function registered(context: BrowserContext) {
  const played = new PlayedCloud()
  const auth_url = await played.open()
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  const name = newName('华东')
  const connection = {
    type: 'openstack-password' as const,
    auth_url,
    interface: 'public' as const,
    region: 'RegionOne',
    username: 'admin',
    password: playedPassword,
    user_domain: 'Default',
    project: 'admin',
    project_domain: 'Default',
  }
  const { cloud_id } = await administrator.call(clouds.create, { body: { name, product: 'openstack', connection } })
  await signIn(context, 'admin')
  // What looks for barriers opens a page of nowhere beside, which may keep nothing.
  await context.addInitScript((id) => location.protocol.startsWith('http') && localStorage.setItem('zhisuan.cloud', id), cloud_id)
  const end = async (): Promise<void> => {
    await administrator.call(clouds.delete, { params: { id: cloud_id }, query: { force: 'true' } })
    played.close()
  }
  return { played, name, cloud_id, end }
}
