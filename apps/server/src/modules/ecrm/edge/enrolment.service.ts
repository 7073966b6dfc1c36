import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Enrolment, enrolments } from '@zhisuan/contract/ecrm/edge'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tunnels } from '../../../platform/tunnel/tunnels.ts'
import { enrolmentOf, isEd25519, newToken, tokenHash } from './edge.enrolment.ts'
import * as store from './edge.store.ts'

type Calls = typeof enrolments

/** As the first cloud is called that is on this host. */
const localName = '本机'

export type EnrolmentService = ReturnType<typeof createEnrolments>

/** How agents come to be those of a node: by a token that whoever registers it is told. */
export function createEnrolments({ db, now, config }: Pick<Platform, 'db' | 'now' | 'config'>, { tunnels }: { tunnels: () => Tunnels | null }) {
  const serverKey = (): string => {
    const key = tunnels()?.publicKey
    if (key === undefined) throw new Refusal('serverStopping')
    return key
  }

  return {
    /**
     * A token, and what to do with it.
     * @param reachedAt the address that this very request came to; where no other is configured nodes come there, too
     * @throws Refusal `serverStopping`
     */
    issue(reachedAt: string): { columns: ReturnType<typeof newToken>['columns']; enrolment: Enrolment } {
      const { token, columns } = newToken(now())
      const server = (config.PUBLIC_URL ?? reachedAt).replace(/\/+$/, '')
      return { columns, enrolment: enrolmentOf({ token, expires: columns.token_expires_at, server, publicKey: serverKey() }) }
    },

    /** The node that the server itself runs on: made once, let in without a question. @returns its token; null where it has been enrolled before */
    async local(): Promise<{ token: string; key: string } | null> {
      const { token, columns } = newToken(now())
      const made = await db.transaction().execute(async (tx) => {
        const row = await store.localEdge(tx, localName)
        if (row !== undefined) {
          if (row.binding === 'pending') await store.updateEdge(tx, row.id, columns)
          return row.binding === 'pending'
        }
        const nobody = { bp_id: null, site_id: null, created_by: null, created_by_name: '' }
        await store.insertEdge(tx, {
          id: uuidv7(),
          name: localName,
          description: '',
          binding: 'pending',
          confirm: 'auto',
          labels: JSON.stringify([]),
          taints: JSON.stringify([]),
          ...nobody,
          ...columns,
        })
        return true
      })
      return made ? { token, key: serverKey() } : null
    },

    /**
     * An agent comes with its token. The same agent may come again with it, where it did not hear the answer.
     * @throws Refusal `enrolTokenInvalid`
     */
    async enrol(body: BodyOf<Calls['enrol']>): Promise<ResponseOf<Calls['enrol']>> {
      if (!isEd25519(body.public_key)) throw new Refusal('enrolTokenInvalid', { field: 'public_key' })
      const edgeId = await db.transaction().execute(async (tx) => {
        const row = await store.edgeOfToken(tx, tokenHash(body.token))
        if (row === undefined || (row.public_key !== null && row.public_key !== body.public_key)) throw new Refusal('enrolTokenInvalid', { field: 'token' })
        if (row.public_key === null) {
          await store.updateEdge(tx, row.id, {
            public_key: body.public_key,
            agent_version: body.version,
            binding: row.confirm === 'auto' ? 'bound' : 'unconfirmed',
            facts: null,
            seen_at: now(),
          })
        }
        return row.id
      })
      return { edge_id: edgeId, server_public_key: serverKey() }
    },
  }
}
