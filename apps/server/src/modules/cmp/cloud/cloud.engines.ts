import { join, normalize } from 'node:path'
import type { CloudConnection } from '@zhisuan/contract/cmp/cloud'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'

/**
 * Opens the engine that a connection leads to. Nothing is asked of it yet.
 * @param place where the sandbox keeps its state: the cloud's id, or null for a try in memory
 */
export function openEngine(connection: CloudConnection, dataDir: string, place: string | null): ComputeEngine {
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
    case 'sandbox':
      return 'sandbox'
  }
}
