import type { CloudConnection } from '@zhisuan/contract/cmp/cloud'
import { detectLocalHypervisor } from '@zhisuan/engines/open'
import type { Platform } from '../../../platform/platform.ts'
import { anyCloudEver } from './cloud.store.ts'
import type { CloudRegistrations } from './registration.service.ts'

/** Names of what the first start registers; data that an administrator renames, not messages. */
const firstCloudNames = { local: '本机', sandbox: '体验云' }

/** At the very first start: this host's hypervisor, or the sandbox for a first look. */
export async function registerFirstCloud(
  { db, config, log }: Pick<Platform, 'db' | 'config' | 'log'>,
  { register }: Pick<CloudRegistrations, 'register'>,
): Promise<void> {
  if (config.LOCAL_CLOUD === 'none' || (await anyCloudEver(db))) return
  const local = config.LOCAL_CLOUD === 'auto' ? await detectLocalHypervisor() : null
  const connection: CloudConnection = local === null ? { type: 'sandbox' } : { type: 'lxd-socket', socket_path: local.socketPath }
  const name = local === null ? firstCloudNames.sandbox : firstCloudNames.local
  try {
    await register({ name, description: '', labels: [], product: 'nextstack', connection })
  } catch (error) {
    // Another server was faster, or the engine fell silent: an administrator can register it.
    log.warn({ err: error }, 'the first cloud was not registered')
  }
}
