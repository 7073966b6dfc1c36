import type { BodyInput } from '@zhisuan/contract/define'
import type { Flavor, flavors } from '@zhisuan/contract/nextstack/flavor'

/** The form holds the body under the body's own names, so that the server's refusals find their fields. */
export interface FlavorValues {
  name: string
  description: string
  cpu_cores: number
  memory_bytes: number
  disk_bytes: number
  withGpu: boolean
  gpu?: { model: string; count: number }
  public: boolean
  organisation_ids?: string[]
}

const gib = 2 ** 30

export const valuesOf = (flavor: Flavor | null): FlavorValues => ({
  name: flavor?.name ?? '',
  description: flavor?.description ?? '',
  cpu_cores: flavor?.cpu_cores ?? 2,
  memory_bytes: flavor?.memory_bytes ?? 4 * gib,
  disk_bytes: flavor?.disk_bytes ?? 40 * gib,
  withGpu: flavor !== null && flavor.gpu !== null,
  gpu: flavor?.gpu ?? { model: '', count: 1 },
  public: flavor?.public ?? true,
  organisation_ids: flavor?.organisations.map(({ id }) => id) ?? [],
})

/** What is switched off is not sent, though it is kept in the form. */
export const bodyOf = (values: FlavorValues): BodyInput<typeof flavors.create> => ({
  name: values.name,
  description: values.description,
  cpu_cores: values.cpu_cores,
  memory_bytes: values.memory_bytes,
  disk_bytes: values.disk_bytes,
  gpu: values.withGpu ? (values.gpu ?? { model: '', count: 1 }) : null,
  public: values.public,
  organisation_ids: values.public ? [] : (values.organisation_ids ?? []),
})
