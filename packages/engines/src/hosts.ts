import type { CallOptions } from './compute.ts'

/** The machines that an engine runs on: one, or the members of a cluster. */
export interface Hosts {
  list(options?: CallOptions): Promise<Host[]>
  /**
   * Moves its instances away (or stops those that cannot move) and takes no new ones; succeeds
   * where that is so already. An engine that is no cluster throws `unsupported`.
   */
  evacuate(name: string, options?: CallOptions): Promise<void>
  /** Takes it back, with what was moved away. */
  restore(name: string, options?: CallOptions): Promise<void>
}

/** Of one that does not answer, everything about its hardware is empty, and 0. */
export interface Host {
  /** Member name; the host's name where there is no cluster. */
  name: string
  /** `evacuated` takes no instances. */
  status: 'online' | 'offline' | 'evacuated'
  statusMessage: string
  /** Where members talk to each other; null without a cluster. */
  address: string | null
  roles: readonly string[]
  architecture: string
  cpu: { model: string; sockets: number; cores: number; threads: number }
  memory: { totalBytes: number; usedBytes: number }
  disks: readonly { id: string; model: string; kind: string; sizeBytes: number; readOnly: boolean; removable: boolean }[]
  nics: readonly { id: string; mac: string; driver: string; product: string; linkDetected: boolean; speedMbps: number | null }[]
  gpus: readonly Gpu[]
  system: { vendor: string; product: string; kind: string; kernel: string; firmware: string }
}

export interface Gpu {
  /** 0000:01:00.0; how an instance is given it. */
  pciAddress: string
  vendorId: string
  productId: string
  vendor: string
  model: string
  driver: string
  numaNode: number | null
}
