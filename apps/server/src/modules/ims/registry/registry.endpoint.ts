import type { Registry as Client } from '@zhisuan/engines/registry/types'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { Db } from '../../../platform/db/database.ts'
import { createEndpoints, type EndpointKind, type EndpointPart } from '../../../platform/endpoints.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { fetchRefusal } from '../../../platform/outbound/follow.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tokens } from '../token/tokens.ts'
import { keptConnection, openRegistry, type KeptConnection } from './registry.connection.ts'
import * as store from './registry.store.ts'
import type { RegistryRow } from './registry.store.ts'

export interface RegistryLook {
  readonly parts: readonly EndpointPart[]
}

type RegistryKind = EndpointKind<RegistryRow, KeptConnection, Client, RegistryLook>

export type RegistryEndpoints = ReturnType<typeof createRegistryEndpoints>

export const createRegistryEndpoints = (platform: Platform, tokens: Pick<Tokens, 'sign'>) => createEndpoints(platform, registryKind(platform.db, tokens))

/** Registries as endpoints. */
const registryKind = (db: Db, tokens: Pick<Tokens, 'sign'>): RegistryKind => ({
  topic: 'ims.registry',
  column: 'registries.connection',
  connection: keptConnection,
  rows: {
    looked: async () => (await store.allRegistries(db)).filter(({ status }) => status === 'active'),
    get: (id) => store.getRegistry(db, id),
    record: (row, health) => store.recordRegistry(db, row, health),
  },
  open: (connection) => openRegistry(connection, tokens),
  close: (client) => client.close(),
  async look(client, { limitMs, signal }) {
    await client.check({ signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]) })
    return { parts: [] }
  },
  tell: tellRegistry,
  explain: (error) => explainRegistry(error, { url: 'connection.url', account: 'connection.account' }),
  incomplete: (_name, { words }) => new Refusal('registryUnanswered', { values: { reason: words } }),
})

/** Why a registry that was tried does not let us in, at the field that is to be changed. Whatever else went wrong as it is. */
export async function explainRegistry(error: unknown, fields: { readonly url: string; readonly account: string }): Promise<unknown> {
  if (!isEngineError(error)) return error
  if (error.kind === 'unauthorized') return new Refusal('registryRefused', { field: fields.account, cause: error })
  if (error.kind === 'bad_answer' || error.kind === 'not_found') return new Refusal('registryIsNone', { field: fields.url, cause: error })
  return new Refusal('registryUnanswered', { field: fields.url, values: { reason: reasonOf(error) }, cause: error })
}

/** The same in a sentence, for who looks at it later. */
export const tellRegistry = async (error: unknown): Promise<string> =>
  toRefusal(fetchRefusal(error) ?? (await explainRegistry(error, { url: 'url', account: 'account' }))).message

/** Why nobody answered, in Chinese: what a socket says is for operators. */
function reasonOf(error: EngineError): string {
  const code = codeOf(error.cause)
  const known: Readonly<Record<string, string>> = {
    ENOTFOUND: '域名无法解析',
    EAI_AGAIN: '域名无法解析',
    ECONNREFUSED: '连接被拒绝',
    DEPTH_ZERO_SELF_SIGNED_CERT: '证书不受信任，请填写其证书机构',
    SELF_SIGNED_CERT_IN_CHAIN: '证书不受信任，请填写其证书机构',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: '证书不受信任，请填写其证书机构',
    CERT_HAS_EXPIRED: '证书已过期',
    ERR_TLS_CERT_ALTNAME_INVALID: '证书与地址不符',
  }
  return known[code] ?? (error.status === undefined ? '没有应答' : `对方返回HTTP ${error.status}`)
}

const codeOf = (cause: unknown): string => (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : '')
