import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import type { Host, Hosts } from '../hosts.ts'
import { pause, refuseAborted } from '../signals.ts'
import { change, settle, type LxdOperation } from './operations.ts'
import { parse } from './parse.ts'
import { onMember, type Server } from './server.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `GET /1.0/resources`, as far as it is shown. */
const list = <T extends z.ZodType>(entry: T) => z.array(entry).nullish()
const text = z.string().nullish()
const resources = z.object({
  cpu: z.object({
    architecture: text,
    total: z.number(),
    sockets: list(z.object({ name: text, cores: list(z.object({ core: z.number().nullish() })) })),
  }),
  memory: z.object({ total: z.number(), used: z.number().nullish() }),
  storage: z
    .object({
      disks: list(
        z.object({ id: z.string(), model: text, type: text, size: z.number().nullish(), read_only: z.boolean().nullish(), removable: z.boolean().nullish() }),
      ),
    })
    .nullish(),
  network: z
    .object({
      cards: list(
        z.object({
          driver: text,
          product: text,
          ports: list(z.object({ id: text, address: text, link_detected: z.boolean().nullish(), link_speed: z.number().nullish() })),
        }),
      ),
    })
    .nullish(),
  gpu: z
    .object({
      cards: list(
        z.object({
          driver: text,
          pci_address: text,
          numa_node: z.number().nullish(),
          vendor: text,
          vendor_id: text,
          product: text,
          product_id: text,
          nvidia: z.object({ model: text }).nullish(),
        }),
      ),
    })
    .nullish(),
  system: z.object({ vendor: text, product: text, type: text, firmware: z.object({ vendor: text, version: text, date: text }).nullish() }).nullish(),
})
type Resources = z.output<typeof resources>
/** `GET /1.0`, asked of a member. */
const about = z.object({ environment: z.object({ server_name: text, kernel: text, kernel_version: text }).nullish() })
/** `GET /1.0/cluster/members` */
const member = z.object({ server_name: z.string(), status: z.string(), message: text, url: text, roles: z.array(z.string()).nullish(), architecture: text })
type Member = z.output<typeof member>

export function createHosts(transport: Transport, server: Server): Hosts {
  const hardwareOf = async (name: string | null, options: CallOptions): Promise<Pick<Host, Hardware> & { name: string }> => {
    const of = async (path: string) => (await transport.ask(path, { query: onMember(name), signal: options.signal })).metadata
    const [said, has] = await Promise.all([of('/1.0'), of('/1.0/resources')])
    const { environment } = parse(about, said, 'server')
    return {
      ...shapeHardware(parse(resources, has, 'resources'), `${environment?.kernel ?? ''} ${environment?.kernel_version ?? ''}`.trim()),
      name: environment?.server_name ?? '',
    }
  }
  const members = async (options: CallOptions): Promise<Member[]> => {
    const { metadata } = await transport.ask('/1.0/cluster/members', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(member), metadata, 'members')
  }
  const isCluster = async (options: CallOptions): Promise<boolean> => !(await server.members(options)).includes(null)

  const hostOf = async (one: Member, options: CallOptions): Promise<Host> => {
    const known = {
      name: one.server_name,
      status: statusOf(one),
      statusMessage: one.message ?? one.status,
      address: one.url === null || one.url === undefined || !URL.canParse(one.url) ? null : new URL(one.url).host,
      roles: one.roles ?? [],
    }
    const architecture = one.architecture ?? ''
    if (known.status === 'offline') return { ...noHardware, architecture, ...known }
    try {
      return { ...(await hardwareOf(one.server_name, options)), architecture, ...known }
    } catch (error) {
      // It went away since the cluster last heard of it.
      if (isEngineError(error, 'unauthorized', 'cancelled') || transport.closed.aborted) throw error
      return { ...noHardware, architecture, ...known, statusMessage: error instanceof Error ? error.message : known.statusMessage }
    }
  }

  /** Both are operations of the whole member; whatever runs of them already is waited for. */
  const setState = async (name: string, action: 'evacuate' | 'restore', options: CallOptions): Promise<void> => {
    refuseAborted(options.signal)
    if (!(await isCluster(options))) throw new EngineError('unsupported', 'the server is not a cluster')
    const wanted = action === 'evacuate' ? 'evacuated' : 'online'
    for (let tries = 0; ; tries++) {
      await settle(transport, name, options, touchesMember)
      const found = (await members(options)).find((one) => one.server_name === name)
      if (found === undefined) throw new EngineError('not_found', `no member ${name}`)
      if (statusOf(found) === wanted) return
      try {
        await change(transport, `/1.0/cluster/members/${encodeURIComponent(name)}/state`, { method: 'POST', body: { action } }, options)
        return
      } catch (error) {
        // Another was quicker; what came of it is looked at again.
        if (options.signal?.aborted === true || tries >= 2 || !(error instanceof Error && /already (evacuated|restored)/i.test(error.message))) throw error
        await pause(100, options.signal)
      }
    }
  }

  return {
    async list(options = {}) {
      if (await isCluster(options)) return Promise.all((await members(options)).map((one) => hostOf(one, options)))
      return [{ ...(await hardwareOf(null, options)), status: 'online', statusMessage: '', address: null, roles: [] }]
    },
    evacuate: (name, options = {}) => setState(name, 'evacuate', options),
    restore: (name, options = {}) => setState(name, 'restore', options),
  }
}

const touchesMember = ({ description, location }: LxdOperation, name: string): boolean =>
  location === name && /^(evacuating|restoring) cluster member$/i.test(description ?? '')

/** `Blocked` waits for other members to be upgraded, and answers nothing till then. */
function statusOf({ status }: Member): Host['status'] {
  if (/^evacuated$/i.test(status)) return 'evacuated'
  return /^online$/i.test(status) ? 'online' : 'offline'
}

type Hardware = 'architecture' | 'cpu' | 'memory' | 'disks' | 'nics' | 'gpus' | 'system'
const noHardware: Pick<Host, Hardware> = {
  architecture: '',
  cpu: { model: '', sockets: 0, cores: 0, threads: 0 },
  memory: { totalBytes: 0, usedBytes: 0 },
  disks: [],
  nics: [],
  gpus: [],
  system: { vendor: '', product: '', kind: '', kernel: '', firmware: '' },
}

function shapeHardware({ cpu, memory, storage, network, gpu, system }: Resources, kernel: string): Pick<Host, Hardware> {
  const sockets = cpu.sockets ?? []
  const { firmware } = system ?? {}
  return {
    architecture: cpu.architecture ?? '',
    cpu: {
      model: sockets[0]?.name ?? '',
      sockets: sockets.length,
      cores: sockets.reduce((sum, { cores }) => sum + (cores?.length ?? 0), 0),
      threads: cpu.total,
    },
    memory: { totalBytes: memory.total, usedBytes: memory.used ?? 0 },
    disks: (storage?.disks ?? []).map((disk) => ({
      id: disk.id,
      model: disk.model ?? '',
      kind: disk.type ?? '',
      sizeBytes: disk.size ?? 0,
      readOnly: disk.read_only ?? false,
      removable: disk.removable ?? false,
    })),
    nics: (network?.cards ?? []).flatMap((card) =>
      (card.ports ?? []).map((port) => ({
        id: port.id ?? '',
        mac: port.address ?? '',
        driver: card.driver ?? '',
        product: card.product ?? '',
        linkDetected: port.link_detected ?? false,
        speedMbps: port.link_speed === 0 ? null : (port.link_speed ?? null),
      })),
    ),
    // What has no PCI address cannot be given to an instance by it.
    gpus: (gpu?.cards ?? []).flatMap((card) =>
      card.pci_address === null || card.pci_address === undefined || card.pci_address === ''
        ? []
        : [
            {
              pciAddress: card.pci_address,
              vendorId: card.vendor_id ?? '',
              productId: card.product_id ?? '',
              vendor: card.vendor ?? '',
              model: card.nvidia?.model ?? card.product ?? '',
              driver: card.driver ?? '',
              numaNode: card.numa_node ?? null,
            },
          ],
    ),
    system: {
      vendor: system?.vendor ?? '',
      product: system?.product ?? '',
      kind: system?.type ?? '',
      kernel,
      firmware: [firmware?.vendor, firmware?.version, firmware?.date].filter((part) => part !== undefined && part !== null && part !== '').join(' '),
    },
  }
}
