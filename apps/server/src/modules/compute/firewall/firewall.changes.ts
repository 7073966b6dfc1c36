import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Place, Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, type Changeable } from '../view.ts'
import { firewallChangeable, type Owned } from './firewall.shapes.ts'
import { holdFirewall } from './firewall.store.ts'
import { served } from './firewall.views.ts'

export type FirewallChanges = ReturnType<typeof createFirewallChanges>

/** Who may change what of firewalls, and by whom it is done. */
export function createFirewallChanges({ db, tenancy }: { db: Db; tenancy: Tenancy }) {
  /** @throws Refusal notFound, noPermission of what is everybody's or another's, 93190 */
  async function toChange<T extends Owned>(actor: Actor, cloudId: string, get: (cloud: OpenStack) => Promise<T>): Promise<Changeable<T> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, get).catch(async (error: unknown) => {
      if (error instanceof Refusal && error.refusal === 'notFound') await served(view)
      throw error
    })
    if (!firewallChangeable(view, changeable.one)) throw new Refusal('noPermission')
    return { ...changeable, view }
  }
  /**
   * Where something is made, and by whom: what everybody may use, by the cloud's administrator in the asker's project.
   * @throws Refusal 93137, 93190
   */
  async function making(
    actor: Actor,
    cloudId: string,
    body: { shared: boolean; project_id: string | null },
  ): Promise<{ cloud: OpenStack; place: Place; owner: { shared?: true; projectId?: string } }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    if (body.shared && !view.everything) throw new Refusal('computePlatformOnly', { field: 'shared' })
    await served(view)
    const place = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
    return body.shared ? { cloud: view.administrator, place, owner: { shared: true, projectId: place.keystoneId } } : { cloud: place.cloud, place, owner: {} }
  }
  /** @throws Refusal 93137 of a tenant who wants to say whether everybody may use it */
  function changing({ view, cloud }: { view: View; cloud: OpenStack }, { shared }: { shared?: boolean | undefined }): OpenStack {
    if (shared === undefined) return cloud
    if (!view.everything) throw new Refusal('computePlatformOnly', { field: 'shared' })
    return view.administrator
  }
  /** @param act asks the cloud only: it holds a connection of the database, and as many as there are would wait for one more */
  const holding = <T>(id: string, how: 'alone' | 'together', refusal: 'computeFirewallPending' | 'changedMeanwhile', act: () => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      if (!(await holdFirewall(tx, id, how))) throw new Refusal(refusal)
      return act()
    })

  return { tenancy, toChange, making, changing, holding }
}
