import { agentPaths, nodeListeners } from '@zhisuan/contract/agent/node'
import { bindRefusal } from '@zhisuan/contract/cis/binds'
import type { PortOfNode } from '@zhisuan/contract/cis/ports'
import type { ContainerSpec } from '@zhisuan/contract/cis/container'
import { isShared } from '@zhisuan/contract/ecrm/share'
import { fillText } from '@zhisuan/contract/errors'
import { nodeTexts } from '@zhisuan/contract/texts'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Actor, Scope } from '../../../platform/auth/actor.ts'
import type { Db, Sql } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { AgentError, type Tunnel } from '../../../platform/tunnel/tunnel.ts'
import type { ImageAuth } from '../../ims/imageAuth.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { publishedPorts } from './container.docker.ts'
import { conflict, type Holder, type Wanted } from './container.ports.ts'
import { refuseBeyond } from './container.share.ts'
import * as store from './container.store.ts'

type Node = Awaited<ReturnType<EdgeReach['choose']>>[number]

/** How long a node may take to say which ports are taken. */
const lookMs = 5_000
/** How long what a registry said counts. */
const registryMs = 60_000

/** Whose ports are no conflict: of what is to have them. */
interface Except {
  readonly id?: string
  readonly project?: string
  readonly services?: readonly string[]
}
/** The most that it may take. */
export interface Share {
  readonly shared_cpu: number
  readonly shared_memory_bytes: number
}
const nobody: Except = {}
const isExcepted = (one: { id: string | null; project?: string | null; service_id?: string | null }, except: Except): boolean =>
  (one.id !== null && one.id === except.id) ||
  (typeof one.project === 'string' && one.project === except.project) ||
  (typeof one.service_id === 'string' && except.services?.includes(one.service_id) === true)

/** Ports that programs of the node have; none are known of an agent that is older than the question. */
async function listenersOn(tunnel: Tunnel): Promise<PortOfNode[]> {
  try {
    const listeners = await tunnel.json(nodeListeners, { path: agentPaths.listeners, timeoutMs: lookMs })
    return listeners.map(({ port, protocol, address }) => ({ host_port: port, protocol, address }))
  } catch (error) {
    if (error instanceof AgentError && error.status === 404) return []
    throw error
  }
}

/** Whether a node can take what is to run on it. */
export function createFit(db: Db, parts: { edges: Pick<EdgeReach, 'reach'>; refusedByNode: RefusedByNode; otherProgram: string; imageAuth: ImageAuth }) {
  const { edges, refusedByNode } = parts

  /** What the ports of a node are taken by, as its Docker and its agent say; whoever may not see ours learns no name of them. */
  const takenOnDocker = async (node: Pick<Node, 'id' | 'name'>, except: Except = nobody): Promise<Holder[]> => {
    const { docker, tunnel } = await edges.reach({ everything: true }, node.id)
    try {
      const [published, programs] = await Promise.all([publishedPorts(docker, AbortSignal.timeout(lookMs)), listenersOn(tunnel)])
      const ofDocker = new Set(published.flatMap(({ ports }) => ports.map(({ host_port, protocol }) => `${host_port}/${protocol}`)))
      return [
        ...published
          .filter((one) => !isExcepted(one, except))
          .map(({ ports, id, project, name }) => ({ ports, name: id === null && project === null ? name : parts.otherProgram })),
        // Docker listens itself at what its containers have.
        { name: parts.otherProgram, ports: programs.filter(({ host_port, protocol }) => !ofDocker.has(`${host_port}/${protocol}`)) },
      ]
    } catch (error) {
      throw refusedByNode(error, node)
    }
  }
  const takenByUs = async (on: Sql, scope: Scope, node: Pick<Node, 'id'>, except: Except = nobody): Promise<Holder[]> =>
    (await store.portsOn(on, [node.id]))
      .filter((one) => !isExcepted(one, except))
      .map(({ bp_id, name, ports }) => ({ ports, name: 'everything' in scope || ('bp_id' in scope && scope.bp_id === bp_id) ? name : parts.otherProgram }))

  const refuseConflict = (node: { name: string }, wanted: readonly Wanted[], holders: readonly Holder[], field: string): void => {
    const taken = conflict(wanted, holders)
    if (taken !== null) throw new Refusal('portTaken', { field, values: { node: node.name, port: taken.port, name: taken.name } })
  }
  const refuseGpus = (node: Node, gpus: number, field: string): void => {
    if (gpus > 0 && (node.facts?.gpus.length ?? 0) < gpus) throw new Refusal('nodeGpusTooFew', { field, values: { node: node.name } })
  }
  /** What a container takes of a node that its organisation shares with others; null on one of its own, where nothing limits it but the node. */
  const shareOn = (
    bpId: string | null,
    node: Pick<Node, 'bp_id' | 'name'>,
    spec: Pick<ContainerSpec, 'cpu_limit' | 'memory_limit_bytes' | 'gpus'>,
  ): Share | null => {
    if (!isShared(bpId, node)) return null
    const values = { node: node.name }
    if (spec.gpus > 0) throw new Refusal('sharedNodeGpus', { field: 'spec.gpus', values })
    if (spec.cpu_limit === null) throw new Refusal('sharedNodeLimits', { field: 'spec.cpu_limit', values })
    if (spec.memory_limit_bytes === null) throw new Refusal('sharedNodeLimits', { field: 'spec.memory_limit_bytes', values })
    return { shared_cpu: spec.cpu_limit, shared_memory_bytes: spec.memory_limit_bytes }
  }
  /**
   * Under the lock of the node's ports: many may come at once.
   * @throws Refusal 95123 where the organisation would have more of the node than it may
   */
  const refuseBeyondShare = async (
    on: Sql,
    bpId: string | null,
    node: Pick<Node, 'id' | 'name' | 'share_limits'>,
    wanted: Share | null,
    except: string | null,
  ): Promise<void> => {
    if (wanted !== null) await refuseBeyond(on, bpId, node, { containers: 1, cpu: wanted.shared_cpu, memory_bytes: wanted.shared_memory_bytes }, except)
  }
  const refuseBinds = (actor: Actor, node: { bp_id: string | null }, spec: ContainerSpec): void => {
    for (const [index, mount] of spec.mounts.entries()) {
      const refusal = mount.type === 'bind' ? bindRefusal(actor, node, mount.host_path) : null
      if (refusal !== null) throw new Refusal('bindMountForbidden', { field: `spec.mounts.${index}` })
    }
  }
  const known = new Map<string, { readonly until: number; readonly had: Promise<boolean | null> }>()
  /** What registries said a moment ago: forms ask again and again, and registries count. Null where none could be asked. */
  const hadBy = (key: string, ask: () => Promise<boolean>): Promise<boolean | null> => {
    const now = Date.now()
    for (const [other, { until }] of known) if (until < now) known.delete(other)
    const had = known.get(key)?.had ?? ask().catch(() => null)
    if (!known.has(key)) known.set(key, { until: now + registryMs, had })
    return had
  }
  /**
   * Whether the image is there or can be had, as far as the node knows now.
   * @throws Refusal 95108 where its registry says that it has none
   */
  const noteOnImage = async (scope: Scope, node: Pick<Node, 'id' | 'name' | 'bp_id'>, image: string): Promise<string | null> => {
    const { docker } = await edges.reach({ everything: true }, node.id)
    const signal = AbortSignal.timeout(lookMs)
    try {
      await docker.images.inspect(image, { signal })
      return null
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw refusedByNode(error, node)
    }
    const bpId = 'bp_id' in scope ? scope.bp_id : null
    const had = await hadBy(`${node.id} ${bpId} ${image}`, async () => {
      const auth = await parts.imageAuth(image, bpId, node.bp_id)
      return docker.images.inRegistry(image, { signal, ...(auth !== undefined && { auth }) })
    })
    if (had === false) throw new Refusal('containerImageMissing', { field: 'spec.image', values: { image, node: node.name } })
    return fillText(had === null ? nodeTexts.imageUnsure : nodeTexts.imageToPull, { image })
  }
  /** All that is in the way of a node, in words, and what is only to be known. */
  const problemsOf = async (
    { scope, bpId }: { scope: Scope; bpId: string | null },
    node: Node,
    spec: Pick<ContainerSpec, 'ports' | 'gpus' | 'cpu_limit' | 'memory_limit_bytes'> & { readonly image?: string | undefined },
  ): Promise<{ problems: string[]; notes: string[] }> => {
    const notes: string[] = []
    const looks = [
      async () => refuseConflict(node, spec.ports, await takenByUs(db, scope, node), 'spec.ports'),
      async () => refuseConflict(node, spec.ports, await takenOnDocker(node), 'spec.ports'),
      async () => refuseGpus(node, spec.gpus, 'spec.gpus'),
      async () => refuseBeyondShare(db, bpId, node, shareOn(bpId, node, spec), null),
      async () => {
        const note = spec.image === undefined ? null : await noteOnImage(scope, node, spec.image)
        if (note !== null) notes.push(note)
      },
    ]
    const said = await Promise.all(
      looks.map((look) =>
        look().then(
          () => null,
          (error: unknown) => {
            const refusal = toRefusal(error)
            if (refusal.refusal === 'unknown') throw error
            return refusal.message
          },
        ),
      ),
    )
    return { problems: [...new Set(said.filter((text) => text !== null))], notes }
  }

  return {
    takenOnDocker,
    takenByUs,
    refuseConflict,
    refuseGpus,
    refuseBinds,
    shareOn,
    refuseBeyondShare,
    problemsOf,

    /**
     * For whoever else publishes ports of nodes, before anything is made. A node that is away is not asked.
     * @param except what has them already: the services of a stack, and what compose calls it
     * @throws Refusal 95103
     */
    async refuseTakenPorts(
      scope: Scope,
      node: { id: string; name: string; online: boolean },
      wanted: readonly Wanted[],
      except: { project: string; services: readonly string[] } | null,
      field: string,
    ): Promise<void> {
      if (wanted.length === 0) return
      refuseConflict(node, wanted, await takenByUs(db, scope, node, except ?? nobody), field)
      if (node.online) refuseConflict(node, wanted, await takenOnDocker(node, except ?? nobody), field)
    },
  }
}
