import type { BodyInput } from '@zhisuan/contract/define'
import { computeImages, type ComputeImage } from '@zhisuan/contract/compute/image'

const gib = 2 ** 30
const mib = 2 ** 20

/** What is said of an image, as forms hold it: sizes in the units that the cloud keeps them in. */
export interface AboutValues {
  name: string
  distribution: string
  os_type: 'linux' | 'windows' | null
  min_disk_gib: number | null
  min_memory_mib: number | null
  visibility: ComputeImage['visibility']
  protected: boolean
}

export const freshAbout: AboutValues = {
  name: '',
  distribution: '',
  os_type: null,
  min_disk_gib: null,
  min_memory_mib: null,
  visibility: 'private',
  protected: false,
}

export const aboutOf = (image: ComputeImage): AboutValues => ({
  name: image.name,
  distribution: image.distribution ?? '',
  os_type: image.os_type === 'linux' || image.os_type === 'windows' ? image.os_type : null,
  min_disk_gib: image.min_disk_bytes === 0 ? null : image.min_disk_bytes / gib,
  min_memory_mib: image.min_memory_bytes === 0 ? null : image.min_memory_bytes / mib,
  visibility: image.visibility,
  protected: image.protected,
})

export const aboutBody = (values: AboutValues): Omit<BodyInput<typeof computeImages.create>, 'disk_format'> => ({
  name: values.name,
  distribution: values.distribution === '' ? null : values.distribution,
  os_type: values.os_type ?? null,
  min_disk_bytes: (values.min_disk_gib ?? 0) * gib,
  min_memory_bytes: (values.min_memory_mib ?? 0) * mib,
  visibility: values.visibility,
  protected: values.protected,
})

/** Only what is another now: what stands on the cloud need not follow the rules of what is typed. */
export const aboutChanges = (image: ComputeImage, values: AboutValues): BodyInput<typeof computeImages.update> => {
  const [before, after] = [aboutBody(aboutOf(image)), aboutBody(values)]
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key as keyof typeof before] !== value))
}
