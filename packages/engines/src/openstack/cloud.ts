import { createCompute, type Compute } from './compute.ts'
import { createIdentity, type Identity } from './identity.ts'
import { createImages, type Images } from './image.ts'
import { createNetworks, type Networks } from './network.ts'
import { createSession, type CloudConnection, type Named, type Session } from './session.ts'
import { createVolumes, type Volumes } from './volume.ts'

/** A cloud as seen from within one project. */
export interface OpenStack {
  readonly session: Session
  readonly compute: Compute
  readonly images: Images
  readonly network: Networks
  readonly volume: Volumes
  readonly identity: Identity
  /** As seen from within another project, in which the same user has a role. */
  within(project: Named): OpenStack
  /** For those who look at it again and again: {@link Session.sharing}. */
  sharing(): OpenStack
}

const seen = (session: Session): OpenStack => ({
  session,
  compute: createCompute(session),
  images: createImages(session),
  network: createNetworks(session),
  volume: createVolumes(session),
  identity: createIdentity(session),
  within: (project) => seen(session.within(project)),
  sharing: () => seen(session.sharing()),
})

/** Any OpenStack since Queens, by its Keystone. Asks nothing yet; `close` ends what is under way with `cancelled`. */
export function createOpenStack(connection: CloudConnection): OpenStack & { close(): Promise<void> } {
  const session = createSession(connection)
  return { ...seen(session), close: session.close }
}
