import type { Cloud, CloudConnection, CloudConnectionChange, CloudProduct, OpenStackSettings } from '@zhisuan/contract/cmp/cloud'

/** What the drawer holds: fields of all kinds of connections at once, so that trying another loses nothing. */
export interface CloudValues {
  name: string
  description: string
  product: CloudProduct
  labels: string[]
  connection: ConnectionValues
}
export type ConnectionValues = { type: CloudConnection['type'] } & { [Field in TextField]?: string | undefined } & {
  interface?: 'public' | 'internal' | 'admin'
}

type TextField =
  | 'socket_path'
  | 'url'
  | 'client_certificate'
  | 'client_key'
  | 'server_certificate'
  | 'project'
  | 'auth_url'
  | 'region'
  | 'certificate_authority'
  | 'username'
  | 'password'
  | 'user_domain'
  | 'project_domain'
  | 'credential_id'
  | 'credential_secret'

/** What a new connection begins with; of a registered OpenStack all but its secret. */
export const firstValues = (cloud: Cloud | null, settings: OpenStackSettings | null): ConnectionValues => ({
  socket_path: cloud?.connection.type === 'lxd-socket' ? cloud.connection.address : '/var/snap/lxd/common/lxd/unix.socket',
  interface: 'public',
  user_domain: 'Default',
  project_domain: 'Default',
  // The server has kept no other types than those of the contract.
  ...(settings ?? { type: (cloud?.connection.type ?? 'lxd-socket') as CloudConnection['type'] }),
})

/** The connection as the call takes it: only what belongs to its kind, and nothing empty. */
export function connectionOf(values: ConnectionValues): CloudConnectionChange
/** Of a new cloud: the form has asked for its secrets. */
export function connectionOf(values: ConnectionValues, fresh: true): CloudConnection
export function connectionOf(values: ConnectionValues, _fresh?: true): CloudConnectionChange {
  const text = (field: TextField): string => (values[field] ?? '').trim()
  const given = <Field extends TextField>(field: Field): { [One in Field]?: string } =>
    text(field) === '' ? {} : ({ [field]: text(field) } as { [One in Field]: string })
  const keystone = { auth_url: text('auth_url'), interface: values.interface ?? 'public', ...given('region'), ...given('certificate_authority') }
  const { type, password = '', credential_secret = '' } = values
  switch (type) {
    case 'lxd-socket':
      return { type, socket_path: text('socket_path') }
    case 'lxd-https':
      return {
        type,
        url: text('url'),
        client_certificate: values.client_certificate ?? '',
        client_key: values.client_key ?? '',
        ...given('server_certificate'),
        ...given('project'),
      }
    case 'sandbox':
      return { type }
    // A secret is what was typed, spaces and all.
    case 'openstack-password':
      return {
        type,
        ...keystone,
        username: text('username'),
        ...(password !== '' && { password }),
        user_domain: text('user_domain'),
        project: text('project'),
        project_domain: text('project_domain'),
      }
    case 'openstack-credential':
      return { type, ...keystone, credential_id: text('credential_id'), ...(credential_secret !== '' && { credential_secret }) }
  }
}
