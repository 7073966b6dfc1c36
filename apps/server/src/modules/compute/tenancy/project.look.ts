import type { KeystoneProjectProblem } from '@zhisuan/contract/compute/project'
import { EngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import { all } from '@zhisuan/engines/openstack/session'
import { pause } from '@zhisuan/engines/signals'
import type { Platform } from '../../../platform/platform.ts'
import { holdProjects } from '../metering/metering.store.ts'
import { isGone, projectIsBack, projectWentWrong, type Telling } from './project.problems.ts'
import * as store from './tenancy.store.ts'

const limitMs = 20_000
/** Of more than that that are missing at once, the next look asks. */
const askedAtOnce = 50
/** Between the two answers that have to say that a project was deleted. */
const confirmMs = 5_000

export type ProjectLook = ReturnType<typeof createProjectLook>

/**
 * Looks whether the projects of our owners are on their cloud, open and ours to act in: one list of all projects, and
 * one of the roles of our account. What of that fails changes nothing that is known.
 */
export function createProjectLook(parts: Pick<Platform, 'db' | 'now'> & Telling & { confirmMs?: number }) {
  const { db, now, log } = parts

  /** Of some that the list does not have, those that Keystone says twice are not there; and since when that is known. */
  const deleted = async (cloud: OpenStack, ids: readonly string[], signal: AbortSignal): Promise<{ gone: ReadonlySet<string>; since: Date }> => {
    const saysGone = async (of: readonly string[]): Promise<string[]> =>
      (await Promise.all(of.map(async (id) => ((await isGone(cloud, id, signal).catch(unlessFailed)) === true ? [id] : [])))).flat()
    const once = await saysGone(ids)
    const since = now()
    if (once.length === 0) return { gone: new Set(), since }
    await pause(parts.confirmMs ?? confirmMs, signal)
    return { gone: new Set(await saysGone(once)), since }
  }

  const look = async (cloudId: string, cloud: OpenStack, signal: AbortSignal): Promise<void> => {
    const began = now()
    const rows = await store.knownProjects(db, cloudId)
    if (rows.length === 0 || cloud.session.ownProjectOnly) return
    const [listed, open] = await Promise.all([all(cloud.identity.projects.list({}, signal)), openTo(cloud, signal)])
    const there = new Map(listed.map((project) => [project.id, project]))
    const unknown = rows.filter(({ keystone_id, problem }) => !there.has(keystone_id) && problem !== 'deleted').map(({ keystone_id }) => keystone_id)
    const { gone, since } = await deleted(cloud, unknown.slice(0, askedAtOnce), signal)
    const seen = await Promise.all(
      rows.map(async ({ keystone_id, problem }): Promise<{ keystone_id: string; problem: KeystoneProjectProblem | null }[]> => {
        const project = there.get(keystone_id)
        if (project === undefined) return gone.has(keystone_id) ? [{ keystone_id, problem: 'deleted' }] : []
        if (!project.enabled) return [{ keystone_id, problem: 'disabled' }]
        if (open === null) return problem === 'roleless' ? [] : [{ keystone_id, problem: null }]
        if (open.has(keystone_id)) return [{ keystone_id, problem: null }]
        return problem === 'roleless' || (await isClosed(cloud, keystone_id, signal)) ? [{ keystone_id, problem: 'roleless' }] : []
      }),
    )
    await db.transaction().execute(async (tx) => {
      if (!(await holdProjects(tx, cloudId, began))) return
      for (const { was, ...row } of await store.setProblems(tx, cloudId, seen.flat(), since)) {
        if (was === 'deleted') await projectIsBack(tx, cloudId, row.keystone_id, since)
        if (row.problem !== null) await projectWentWrong(tx, parts, { ...row, problem: row.problem, since })
      }
    })
  }

  return async (cloudId: string, cloud: OpenStack, signal: AbortSignal): Promise<void> => {
    try {
      // A Keystone that hangs does not keep the meter waiting.
      await look(cloudId, cloud, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))
    } catch (error) {
      if (!signal.aborted) log.info({ err: error, cloud: cloudId }, 'how the projects of a cloud are could not be read')
    }
  }
}

/** The projects in which our account has a role; null where the cloud does not tell us of roles, or not of all. */
async function openTo(cloud: OpenStack, signal: AbortSignal): Promise<ReadonlySet<string> | null> {
  const { userId, projectId } = await cloud.session.whoami(signal)
  const open = await cloud.identity.roles.projectsOf(userId, signal).catch(unlessFailed)
  // It has one where it is signed in.
  return open === null || projectId === null || !open.has(projectId) ? null : open
}

/** Whether Keystone lets us into a project no more, as its owner would find out. */
async function isClosed(cloud: OpenStack, keystoneId: string, signal: AbortSignal): Promise<boolean> {
  try {
    await cloud.within({ id: keystoneId }).session.whoami(signal)
    return false
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
    return error instanceof OpenStackError && error.project === 'role'
  }
}

const unlessFailed = (error: unknown): null => {
  if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
  return null
}
