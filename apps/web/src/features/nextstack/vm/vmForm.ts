import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { VmType } from '@zhisuan/contract/nextstack/vm'

/** How a person gets in. */
export interface AccessValues {
  password?: string
  ssh_public_key?: string
  key_pair_ids?: string[]
  user_data?: string
}

/** The form holds the body of the call under the body's own names, so that the server's refusals find their fields. */
export interface VmValues extends AccessValues {
  cloud_id: string
  type: VmType
  image_fingerprint: string
  flavor_id: string
  disk_bytes: number
  /** A network of the cloud's own by its name, or a private one: see {@link privateNetwork}. */
  network: string
  security_group_ids?: string[]
  name: string
  description: string
  count: number
}
/** While it is filled in. */
export type VmTyped = { [K in keyof VmValues]?: VmValues[K] | undefined }

/** What is not typed is not sent: the contract takes absence, not emptiness. */
export function accessOf(values: VmTyped, cloudInit: boolean): AccessValues {
  const given = (text: string | undefined): string | undefined => (text === undefined || text.trim() === '' ? undefined : text)
  const password = given(values.password)
  const key = given(values.ssh_public_key)
  const data = cloudInit ? given(values.user_data) : undefined
  return {
    ...(password !== undefined && { password }),
    ...(key !== undefined && { ssh_public_key: key }),
    ...(values.key_pair_ids !== undefined && values.key_pair_ids.length > 0 && { key_pair_ids: values.key_pair_ids }),
    ...(data !== undefined && { user_data: data }),
  }
}

/** How the form's one choice of a network names a private one; engines' names hold no colon. */
export const privateNetwork = (id: string): string => `vpc:${id}`
export const vpcIdOf = (network: string | undefined): string | null => (network?.startsWith('vpc:') === true ? network.slice(4) : null)

/** The form's values as the call takes them. */
export function bodyOf(values: VmValues, cloudInit: boolean) {
  const { cloud_id, name, description, type, image_fingerprint, flavor_id, disk_bytes, network, security_group_ids = [], count } = values
  const vpc_id = vpcIdOf(network)
  const where = vpc_id === null ? { network } : { vpc_id, security_group_ids }
  return { cloud_id, name, description, type, image_fingerprint, flavor_id, disk_bytes, ...where, count, ...accessOf(values, cloudInit) }
}

/** What there is to choose from; undefined what is not known yet. */
export interface Offers {
  readonly clouds: readonly Pick<CloudBasic, 'cloud_id' | 'instance_types'>[] | undefined
  /** The cloud of the top bar. */
  readonly preferredCloud: string | undefined
  readonly images: readonly { readonly fingerprint: string }[] | undefined
  readonly flavors: readonly Pick<Flavor, 'id' | 'disk_bytes'>[] | undefined
  readonly networks: readonly { readonly name: string }[] | undefined
}

/**
 * What the form chooses for the person: the only one there is, the first network, a disk as large
 * as the flavor wants; and what it has to forget because it is no longer offered (undefined).
 * Nothing that fits is ever changed.
 */
export function corrections(typed: VmTyped, offers: Offers): VmTyped {
  const { clouds, images, flavors, networks } = offers
  const changes: VmTyped = {}

  const cloud = clouds?.find(({ cloud_id }) => cloud_id === typed.cloud_id)
  if (clouds !== undefined && cloud === undefined) {
    const instead = clouds.find(({ cloud_id }) => cloud_id === offers.preferredCloud) ?? clouds[0]
    if (instead !== undefined) changes.cloud_id = instead.cloud_id
  }

  if (cloud !== undefined) {
    const can = (type: VmType): boolean => cloud.instance_types[type].available
    const other = typed.type === 'vm' ? 'container' : 'vm'
    if (typed.type === undefined || (!can(typed.type) && can(other))) changes.type = can('vm') ? 'vm' : 'container'
  }

  if (images !== undefined && !images.some(({ fingerprint }) => fingerprint === typed.image_fingerprint)) {
    if (images.length === 1) changes.image_fingerprint = images[0]?.fingerprint
    else if (typed.image_fingerprint !== undefined) changes.image_fingerprint = undefined
  }

  const flavor = flavors?.find(({ id }) => id === typed.flavor_id)
  if (flavors !== undefined && flavor === undefined) {
    if (flavors.length === 1) changes.flavor_id = flavors[0]?.id
    else if (typed.flavor_id !== undefined) changes.flavor_id = undefined
  }
  // Only what cannot be: what somebody is typing at the moment may be too small, and is told so.
  if (flavor !== undefined && typed.disk_bytes === undefined) changes.disk_bytes = flavor.disk_bytes

  if (networks !== undefined && !networks.some(({ name }) => name === typed.network) && typed.network !== networks[0]?.name) {
    changes.network = networks[0]?.name
  }
  return changes
}

/**
 * The disk of a flavor that is being looked at: what the flavor wants, unless the person typed more. It follows back:
 * what a larger one wanted was nobody's wish, and cannot be made smaller once it is there.
 * @param least what it is already
 */
export const diskFor = (flavor: Pick<Flavor, 'disk_bytes'> | undefined, typed: number | null, least = 0): number =>
  Math.max(flavor?.disk_bytes ?? 0, typed ?? 0, least)
