import { containerSpec, type ContainerSpec } from '@zhisuan/contract/cis/container'
import { Refusal } from '../../../platform/errors.ts'
import type { Secrets } from '../../../platform/secrets.ts'

/** @param of the row that it lies in: it opens nowhere else */
const place = (of: string): string => `containers.spec:${of}`

export const sealSpec = (secrets: Secrets, id: string, spec: ContainerSpec): string => secrets.seal(JSON.stringify(spec), place(id))
/** @throws Refusal `containerOfStack`: what a service made has none of ours */
export function openSpec(secrets: Secrets, row: { readonly id: string; readonly spec: string | null; readonly service_name?: string | null }): ContainerSpec {
  if (row.spec === null) throw new Refusal('containerOfStack', { values: { name: row.service_name ?? '' } })
  return containerSpec.parse(JSON.parse(secrets.open(row.spec, place(row.id))))
}
