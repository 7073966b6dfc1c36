import type { Call } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import type { Handler, HandlerInput } from '../../platform/http/handler.ts'
import type { MayBegin } from '../../platform/operations.ts'
import type { Platform } from '../../platform/platform.ts'

/**
 * What changes something and is done although nothing more may be begun: it ends, gives back or frees what runs, or
 * changes no bill. What merely ends something in every family (`stop`, `delete`, …) is known where that is decided.
 */
const doneWhileSuspended = new Set([
  'pause',
  'suspend',
  'shelve',
  'lock',
  'unlock',
  'confirmResize',
  'revertResize',
  'detachInterface',
  'detachVolume',
  'clearGateway',
  'removeInterface',
  'unbind',
  'release',
  'removeRule',
  'removePorts',
  'deactivate',
  'withdraw',
  'update',
  'setMetadata',
  'setTags',
  'download',
])

/**
 * Before something is begun that is called so. What platform-level people do is theirs to decide.
 * @throws Refusal 24011, 24018
 */
export type RefuseWhileSuspended = (actor: Actor, id: string) => Promise<void>
export const createRefuseWhileSuspended =
  ({ db }: Pick<Platform, 'db'>, mayBegin: MayBegin): RefuseWhileSuspended =>
  async (actor, id) => {
    if (!('everything' in scopeOf(actor))) await db.transaction().execute((tx) => mayBegin(tx, { kind: id, bp_id: actor.bp_id, actor }))
  }

/**
 * A call with what answers it, refused to a suspended organisation: here and for all calls, because of what is begun
 * on a cloud nothing is written down that could be asked instead.
 */
export const refusedWhileSuspended =
  (refuse: RefuseWhileSuspended) =>
  (handler: Handler): Handler => {
    const { id, method } = handler.call
    if (handler.shared || handler.lines === true || method === 'GET' || doneWhileSuspended.has(id.slice(id.lastIndexOf('.') + 1))) return handler
    return {
      ...handler,
      async run(input: HandlerInput<Call>) {
        await refuse(input.actor, id)
        return handler.run(input)
      },
    }
  }
