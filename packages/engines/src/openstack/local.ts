import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from './errors.ts'
import type { CloudConnection } from './session.ts'

const folder = process.env['ZHISUAN_OPENSTACK_DIR'] ?? join(process.env['ZHISUAN_ENGINES_DIR'] ?? '/var/lib/zhisuan-engines', 'openstack')
/** Where `scripts/engines.sh openstack up` puts how to get in. */
const openrc = join(folder, 'openrc')

/** Whether a process that the script began still runs: its id with the moment it began, as that stands in proc_pid_stat(5). */
function runs(name: string): boolean {
  try {
    const [pid = '', began] = readFileSync(join(folder, 'run', name), 'utf8')
      .trim()
      .split(' ')
    return (
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] === began
    )
  } catch {
    return false
  }
}

/** A host that went down leaves its files behind, and no cloud. */
export const cloudIsThere = existsSync(openrc) && runs('keystone')

const said = (): Record<string, string> =>
  Object.fromEntries([...readFileSync(openrc, 'utf8').matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])) as Record<string, string>

/** The cloud of this host, as its administrator. */
export function administrator(changes: Partial<CloudConnection> = {}): CloudConnection {
  const { OS_AUTH_URL: authUrl = '', OS_PASSWORD: password = '' } = said()
  const domain = { id: 'default' }
  return {
    name: '测试云',
    authUrl,
    region: 'RegionOne',
    credentials: { user: { name: 'admin', domain }, password, project: { name: 'admin', domain } },
    timeoutMs: 150_000,
    ...changes,
  }
}

/** What a platform's administrator types in to register that cloud. */
export function registration() {
  const { OS_AUTH_URL: auth_url = '', OS_PASSWORD: password = '' } = said()
  return {
    type: 'openstack-password' as const,
    auth_url,
    interface: 'public' as const,
    region: 'RegionOne',
    username: 'admin',
    password,
    user_domain: 'Default',
    project: 'admin',
    project_domain: 'Default',
  }
}

/** Where its services listen on the loopback. */
export const ports: Readonly<Record<Service, number>> = { identity: 15_000, compute: 18_774, placement: 18_778, image: 19_292, network: 19_696, volume: 18_776 }
