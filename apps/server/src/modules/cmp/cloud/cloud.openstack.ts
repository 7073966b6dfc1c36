import { requiredServices, type CloudCapacity, type CloudConnection, type CloudConnectionChange, type CloudServiceState } from '@zhisuan/contract/cmp/cloud'
import { fieldTexts } from '@zhisuan/contract/texts'
import { OpenStackError, type Service } from '@zhisuan/engines/openstack/errors'
import type { Looked } from '@zhisuan/engines/openstack/look'
import type { EndpointPart, FailedParts } from '../../../platform/endpoints.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { openOpenStack, type OpenStackConnection } from './cloud.engines.ts'
import type { Observed } from './cloud.store.ts'

/** What operators call the services, in every language. */
const serviceNames: Readonly<Record<Service, string>> = {
  identity: 'Keystone',
  compute: 'Nova',
  placement: 'Placement',
  image: 'Glance',
  network: 'Neutron',
  volume: 'Cinder',
}

/** @throws Refusal 93025 where the cloud has no such region, or several and none was named */
export function refuseOtherRegion({ access: { regions } }: Looked, region: string | undefined): void {
  const meant = region === undefined ? regions.length <= 1 : regions.includes(region)
  if (!meant) throw new Refusal('cloudRegion', { field: 'connection.region', values: { regions: regions.join('、') } })
}

/** Why Keystone does not let us in, at the field that is to be changed; whatever else went wrong as it is. */
export async function signInRefusal(error: unknown, connection: OpenStackConnection, name: string): Promise<unknown> {
  if (!(error instanceof OpenStackError) || error.service !== 'identity') return error
  const refusal = (what: 'keystoneUnreachable' | 'keystoneCredentials' | 'keystoneProject' | 'keystoneCertificate' | 'keystoneAnswer', field: string) =>
    new Refusal(what, { field: `connection.${field}`, values: { cloud: name, request: error.requestId }, detail: error.message, cause: error })
  switch (error.kind) {
    case 'unreachable':
    case 'cancelled':
      return refusal('keystoneUnreachable', 'auth_url')
    case 'unauthorized':
      // Without an answer it is the certificate that was refused, and by us.
      if (error.status === undefined) return refusal('keystoneCertificate', 'certificate_authority')
      if (connection.type === 'openstack-credential') return refusal('keystoneCredentials', 'credential_secret')
      return (await signsInAlone(connection, name)) ? refusal('keystoneProject', 'project') : refusal('keystoneCredentials', 'password')
    default:
      return refusal('keystoneAnswer', 'auth_url')
  }
}

const askAloneMs = 25_000
/** Keystone says the same of a wrong password and of a wrong project: without a project it tells them apart. */
async function signsInAlone(connection: OpenStackConnection, name: string): Promise<boolean> {
  const engine = openOpenStack(connection, name, { timeoutMs: askAloneMs, scoped: false })
  try {
    await engine.session.whoami()
    return true
  } catch {
    return false
  } finally {
    await engine.close()
  }
}

/**
 * With the secrets of the registered connection where they were left out.
 * @param kept what is registered; undefined of a cloud that is new
 * @throws Refusal 90001 where there are none, 93028 where they would go to somebody else
 */
export function withSecrets(change: CloudConnectionChange, kept: CloudConnection | undefined): CloudConnection {
  const left = (field: string): Refusal =>
    kept === undefined
      ? new Refusal('fieldsInvalid', { fields: [{ field: `connection.${field}`, message: fieldTexts.contentRequired }] })
      : new Refusal('connectionSecretNeeded', { field: `connection.${field}` })
  switch (change.type) {
    case 'openstack-password': {
      if (change.password !== undefined) return { ...change, password: change.password }
      if (kept?.type !== change.type || !sameKeystone(kept, change) || kept.username !== change.username || kept.user_domain !== change.user_domain)
        throw left('password')
      return { ...change, password: kept.password }
    }
    case 'openstack-credential': {
      if (change.credential_secret !== undefined) return { ...change, credential_secret: change.credential_secret }
      if (kept?.type !== change.type || !sameKeystone(kept, change) || kept.credential_id !== change.credential_id) throw left('credential_secret')
      return { ...change, credential_secret: kept.credential_secret }
    }
    default:
      return change
  }
}
const sameKeystone = (one: { auth_url: string }, other: { auth_url: string }): boolean => new URL(one.auth_url).origin === new URL(other.auth_url).origin

export const servicesOf = ({ services }: Looked): CloudServiceState[] =>
  services.map(({ service, state, version, address, tookMs, error }) => ({
    service,
    required: isRequired(service),
    state,
    version,
    address,
    took_ms: tookMs,
    // Not the whole cloud is meant.
    problem:
      error === null
        ? null
        : {
            message: (error.kind === 'unreachable' ? new Refusal('cloudServiceUnreachable') : toRefusal(error)).message,
            words: error.message,
            request_id: error.requestId,
          },
  }))
const isRequired = (service: Service): boolean => (requiredServices as readonly Service[]).includes(service)

/** The services as parts of an endpoint. */
export const partsOf = (services: readonly CloudServiceState[]): EndpointPart[] =>
  services.map(({ service, required, state, problem }) => ({ label: serviceNames[service], required, state, problem }))

/** That a cloud is of no use without the services that fail: 93027. */
export const servicesRefusal = (name: string, { parts, words }: FailedParts): Refusal =>
  new Refusal('cloudServicesFailed', { values: { cloud: name, services: parts }, detail: words })

/** @param before what was known: of a service that fails now, what it said is better than none */
export function observedOf(looked: Looked, before: Observed | null): Observed {
  const state = (service: Service) => looked.services.find((one) => one.service === service)
  const version = state('compute')?.version
  return {
    engine: 'openstack',
    // A release has no name that its services tell; Nova's version is what people go by.
    engine_version: version === null || version === undefined ? (before?.engine_version ?? null) : `Nova ${version}`,
    instance_types: { vm: { available: true, reason: null }, container: { available: false, reason: null } },
    capacity: capacityOf(looked, before?.capacity ?? null, (service) => state(service)?.state === 'failed'),
  }
}

function capacityOf({ hosts, pools }: Looked, before: CloudCapacity | null, failed: (service: Service) => boolean): CloudCapacity | null {
  if (failed('compute') || (failed('placement') && before !== null)) return before
  if (hosts === null) return null
  return {
    cpu_cores: { ...hosts.cpuCores },
    memory_bytes: { ...hosts.memoryBytes },
    // Where there are volumes, theirs is the store that people fill; else the hosts' own.
    disk_bytes: pools !== null ? { ...pools } : failed('volume') && before !== null ? before.disk_bytes : { ...hosts.diskBytes },
    nodes: hosts.nodes,
    running_instances: hosts.runningInstances,
  }
}
