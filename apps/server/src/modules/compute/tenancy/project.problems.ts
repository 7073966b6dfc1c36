import type { KeystoneProjectProblem } from '@zhisuan/contract/compute/project'
import { errors, fillText } from '@zhisuan/contract/errors'
import { messageTexts } from '@zhisuan/contract/texts'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { pause } from '@zhisuan/engines/signals'
import type { Tx } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { findUsage, forgetLostUsage, holdProjects, loseUsage } from '../metering/metering.store.ts'
import { sayOfRecycled } from '../recycle/recycle.store.ts'
import * as store from './tenancy.store.ts'
import type { KeystoneProjectRow } from './tenancy.store.ts'

/** How long after Keystone has said that a project is not there it is asked once more: one answer may be a mistake of its own. */
const confirmMs = 3_000

/** Whether Keystone itself says that there is no such project: whose 404 it is else, such as a gateway's, says nothing of it. */
export async function isGone({ identity }: OpenStack, keystoneId: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await identity.projects.get(keystoneId, signal)
    return false
  } catch (error) {
    if (isEngineError(error, 'not_found') && /could not find project/i.test(error.message)) return true
    // Who may not ask is told nothing.
    if (isEngineError(error, 'not_found', 'unauthorized')) return false
    throw error
  }
}

/** Whether it was deleted, so that what lies in it may be taken for lost: Keystone says so twice, or did before. */
export async function isDeleted(cloud: OpenStack, { keystone_id, problem }: Pick<KeystoneProjectRow, 'keystone_id' | 'problem'>): Promise<boolean> {
  if (!(await isGone(cloud, keystone_id))) return false
  if (problem === 'deleted') return true
  await pause(confirmMs, undefined)
  return isGone(cloud, keystone_id)
}

/** Who is to hear of it. */
export interface Telling {
  readonly log: Platform['log']
  readonly tell: Tell
}

const wrongTexts = { disabled: 'projectDisabled', deleted: 'projectDeleted', roleless: 'projectRoleless' } as const satisfies Readonly<
  Record<KeystoneProjectProblem, keyof typeof messageTexts>
>

/** A project of an owner of ours that has come to be wrong. */
export interface WrongProject {
  readonly cloud_id: string
  readonly keystone_id: string
  readonly bp_id: string
  /** Null: the organisation's own. */
  readonly project_id: string | null
  readonly problem: KeystoneProjectProblem
  readonly since: Date
}

/**
 * Called once when a project goes wrong, in the transaction that records it, by whichever server saw it first. What
 * lies in one that was deleted is lost then: its meter stops, the recycle bin says so, and so do messages to its
 * organisation. Who runs the platform is told of whatever is wrong.
 */
export async function projectWentWrong(tx: Tx, { log, tell }: Telling, wrong: WrongProject): Promise<void> {
  const { cloud_id, keystone_id, bp_id, problem, since } = wrong
  if (problem === 'deleted') {
    await loseUsage(tx, cloud_id, keystone_id, since, 'project_deleted')
    await sayOfRecycled(tx, cloud_id, keystone_id, errors.computeProjectGone.text, true)
  }
  log.warn(wrong, 'the project of an organisation is wrong on its cloud')
  const { cloud, organisation } = await store.namesOf(tx, cloud_id, bp_id)
  const message = { key: `${cloud_id} ${keystone_id} ${problem} ${since.toISOString()}` }
  await tell(tx, {
    ...message,
    kind: 'compute.projectWrong',
    bp_id: null,
    text: fillText(messageTexts[wrongTexts[problem]], { organisation: organisation ?? bp_id, cloud }),
    about: { kind: 'cmp.cloud', id: cloud_id, name: cloud },
  })
  if (problem === 'deleted' && organisation !== null)
    await tell(tx, {
      ...message,
      kind: 'compute.projectLost',
      bp_id,
      text: fillText(messageTexts.projectLost, { cloud }),
      about: { kind: 'compute.project', id: keystone_id, name: cloud },
    })
}

/** One that was deleted is there again, as after a restored database: what lies in it is metered from then on. */
export async function projectIsBack(tx: Tx, cloudId: string, keystoneId: string, now: Date): Promise<void> {
  await findUsage(tx, cloudId, keystoneId, now)
  await sayOfRecycled(tx, cloudId, keystoneId, errors.computeProjectGone.text, false)
}

/**
 * The record of a project that was deleted goes, and what lay in it is lost to its owner.
 * @returns whether there was one
 */
export async function forgetDeletedProject(tx: Tx, telling: Telling, cloudId: string, keystoneId: string, now: Date): Promise<boolean> {
  await holdProjects(tx, cloudId)
  const row = await store.deleteKeystoneProject(tx, cloudId, keystoneId)
  if (row === undefined) return false
  if (row.problem !== 'deleted') await projectWentWrong(tx, telling, { ...row, problem: 'deleted', since: now })
  await forgetLostUsage(tx, cloudId, keystoneId)
  return true
}
