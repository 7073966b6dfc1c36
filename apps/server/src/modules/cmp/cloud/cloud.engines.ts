import { join, normalize } from 'node:path'
import type { CloudConnection } from '@zhisuan/contract/cmp/cloud'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'

export type OpenStackConnection = Extract<CloudConnection, { type: `openstack-${string}` }>
/** One of the first family's. */
export type ComputeConnection = Exclude<CloudConnection, OpenStackConnection>
export type OpenedOpenStack = OpenStack & { close(): Promise<void> }

/**
 * Opens an OpenStack. Nothing is asked of it yet.
 * @param name what people call the cloud: stands in its errors
 * @param options.timeoutMs for one answer: default 30 s
 * @param options.scoped false: as the user alone, within no project
 */
export function openOpenStack(
  connection: OpenStackConnection,
  name: string,
  { timeoutMs, scoped = true }: { timeoutMs?: number; scoped?: boolean } = {},
): OpenedOpenStack {
  return createOpenStack({
    name,
    authUrl: connection.auth_url,
    interface: connection.interface,
    credentials:
      connection.type === 'openstack-credential'
        ? { applicationCredential: { id: connection.credential_id, secret: connection.credential_secret } }
        : {
            user: { name: connection.username, domain: { name: connection.user_domain } },
            password: connection.password,
            ...(scoped && { project: { name: connection.project, domain: { name: connection.project_domain } } }),
          },
    ...(connection.region !== undefined && { region: connection.region }),
    ...(connection.certificate_authority !== undefined && { certificateAuthority: connection.certificate_authority }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

/**
 * Opens the engine that a connection of the first family leads to. Nothing is asked of it yet.
 * @param place where the sandbox keeps its state: the cloud's id, or null for a try in memory
 */
export function openEngine(connection: ComputeConnection, dataDir: string, place: string | null): ComputeEngine {
  switch (connection.type) {
    case 'lxd-socket':
      return createLxdEngine({ socketPath: connection.socket_path })
    case 'lxd-https':
      return createLxdEngine({
        url: connection.url,
        clientCertificate: connection.client_certificate,
        clientKey: connection.client_key,
        ...(connection.server_certificate !== undefined && { serverCertificate: connection.server_certificate }),
        ...(connection.project !== undefined && { project: connection.project }),
      })
    case 'sandbox':
      return createSandboxEngine({ directory: place === null ? null : join(dataDir, 'sandbox', place) })
  }
}

/** What may be shown of a connection; the same for the same engine, however it was typed. */
export function addressOf(connection: CloudConnection): string {
  switch (connection.type) {
    case 'lxd-socket':
      return normalize(connection.socket_path)
    case 'lxd-https': {
      const { origin, pathname } = new URL(connection.url)
      const project = connection.project === undefined || connection.project === 'default' ? '' : `?project=${connection.project}`
      return `${origin}${pathname.replace(/\/+$/, '')}${project}`
    }
    case 'openstack-password':
    case 'openstack-credential': {
      const { origin, pathname } = new URL(connection.auth_url)
      const region = connection.region === undefined ? '' : `?region=${encodeURIComponent(connection.region)}`
      return `${origin}${pathname.replace(/\/+$/, '').replace(/\/v3$/, '')}${region}`
    }
    case 'sandbox':
      return 'sandbox'
  }
}
