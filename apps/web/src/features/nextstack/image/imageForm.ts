import type { BodyInput } from '@zhisuan/contract/define'
import type { Image, imageLibrary } from '@zhisuan/contract/nextstack/image'

/** What is said of an image; an empty size or number means none is asked for. */
export interface AboutValues {
  name: string
  description: string
  os: string
  release: string
  cloud_init: boolean
  min_cpu_cores: number | null
  min_memory_bytes: number | null
  min_disk_bytes: number | null
}

export const aboutNothing: AboutValues = {
  name: '',
  description: '',
  os: '',
  release: '',
  cloud_init: false,
  min_cpu_cores: null,
  min_memory_bytes: null,
  min_disk_bytes: null,
}

const some = (value: number): number | null => (value === 0 ? null : value)

export const aboutOf = (image: Image): AboutValues => ({
  name: image.name,
  description: image.description,
  os: image.os ?? '',
  release: image.release ?? '',
  cloud_init: image.cloud_init,
  min_cpu_cores: some(image.min_cpu_cores),
  min_memory_bytes: some(image.min_memory_bytes),
  min_disk_bytes: some(image.min_disk_bytes),
})

type About = Omit<BodyInput<typeof imageLibrary.update>, 'visibility'>

export const aboutBody = ({ name, description, os, release, cloud_init, min_cpu_cores, min_memory_bytes, min_disk_bytes }: AboutValues): About => ({
  name,
  description,
  os: os.trim() === '' ? null : os,
  release: release.trim() === '' ? null : release,
  cloud_init,
  min_cpu_cores: min_cpu_cores ?? 0,
  min_memory_bytes: min_memory_bytes ?? 0,
  min_disk_bytes: min_disk_bytes ?? 0,
})
