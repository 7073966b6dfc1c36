import type { CloudConnection, CloudProduct } from '@zhisuan/contract/cmp/cloud'
import type { ConnectionType } from './ConnectionFields.tsx'

/** What the drawer holds: fields of all kinds of connections at once, so that trying another loses nothing. */
export interface CloudValues {
  name: string
  description: string
  product: CloudProduct
  labels: string[]
  connection: {
    type: ConnectionType
    socket_path?: string
    url?: string
    client_certificate?: string
    client_key?: string
    server_certificate?: string
    project?: string
  }
}

/** The connection as the call takes it: only what belongs to its kind, and nothing empty. */
export function connectionOf(values: CloudValues['connection']): CloudConnection {
  const { type, socket_path = '', url = '', client_certificate = '', client_key = '', server_certificate = '', project = '' } = values
  switch (type) {
    case 'lxd-socket':
      return { type, socket_path: socket_path.trim() }
    case 'lxd-https':
      return {
        type,
        url: url.trim(),
        client_certificate,
        client_key,
        ...(server_certificate.trim() !== '' && { server_certificate }),
        ...(project.trim() !== '' && { project: project.trim() }),
      }
    case 'sandbox':
      return { type }
  }
}
