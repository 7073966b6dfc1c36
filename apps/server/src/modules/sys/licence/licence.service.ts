import type { Licence } from '@zhisuan/contract/sys/sys'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readLicence, type LicencePayload } from './licence.file.ts'
import { readLicenceKey } from './licence.key.ts'
import { getInstallation, importedLicences, insertInstallation, insertLicence, lockLicence } from './licence.store.ts'

/** What every installation may do for its first ninety days. */
const evaluation = { days: 90, nodes: 10, cores: 1024 }
const dayMs = 24 * 60 * 60_000

/** What the licence limits, over all clouds. */
export interface LicenceUsage {
  nodes: number
  cores: number
}

export type LicenceService = ReturnType<typeof createLicence>

/** The licence in force: the newest imported one that has begun, else the evaluation. */
export function createLicence({ db, config, now, log, modules }: Platform) {
  const { pem, key } = readLicenceKey(config)
  const usage = async (on: Sql): Promise<LicenceUsage> => {
    const used = { nodes: 0, cores: 0 }
    for (const { usageOfLicence } of modules()) {
      const more = await usageOfLicence?.(on)
      used.nodes += more?.nodes ?? 0
      used.cores += more?.cores ?? 0
    }
    return used
  }

  const inForce = async (on: Sql): Promise<LicencePayload & { kind: Licence['kind'] }> => {
    const at = now().getTime()
    for (const { id, file } of await importedLicences(on)) {
      const reading = readLicence(file, key)
      if (!reading.ok) log.error({ licence_id: id, reason: reading.reason }, 'an imported licence does not fit the configured key')
      else if (reading.payload.start_timestamp <= at) return { ...reading.payload, kind: 'licensed' }
    }
    const { id, installed_at } = await getInstallation(on)
    return {
      kind: 'evaluation',
      id: 'evaluation',
      customer: '',
      installation_id: id,
      start_timestamp: installed_at.getTime(),
      end_timestamp: installed_at.getTime() + evaluation.days * dayMs,
      nodes: evaluation.nodes,
      cores: evaluation.cores,
    }
  }

  const get = async (): Promise<Licence> => {
    const [licence, used, { id }] = await Promise.all([inForce(db), usage(db), getInstallation(db)])
    return { ...licence, nodes_used: used.nodes, cores_used: used.cores, installation_id: id }
  }

  return {
    get,

    async publicKey(): Promise<{ pubkey: string; installation_id: string }> {
      return { pubkey: pem, installation_id: (await getInstallation(db)).id }
    },

    /** Puts a file in force; one for later begins when it says. @throws Refusal 92002 to 92005 */
    async import(file: string): Promise<Licence> {
      const reading = readLicence(file, key)
      if (!reading.ok) throw new Refusal(reading.reason === 'malformed' ? 'licenceMalformed' : 'licenceSignatureInvalid', { field: 'licence' })
      const { installation_id, end_timestamp } = reading.payload
      const { id } = await getInstallation(db)
      if (installation_id !== null && installation_id !== id) throw new Refusal('licenceForOther', { field: 'licence' })
      if (end_timestamp < now().getTime()) throw new Refusal('licenceAlreadyExpired', { field: 'licence' })
      await insertLicence(db, { id: uuidv7(), file, imported_at: now() })
      return get()
    },

    /** @throws Refusal 92001 after the end */
    async assertValid(): Promise<void> {
      if ((await inForce(db)).end_timestamp < now().getTime()) throw new Refusal('licenceExpired')
    },

    /**
     * Refuses what would go beyond the licence. Others wait until the transaction ends, so that
     * two at once cannot both pass; write what is added in the same transaction.
     * @throws Refusal 8805, 8809
     */
    async assertFits(tx: Tx, added: LicenceUsage): Promise<void> {
      await lockLicence(tx)
      const licence = await inForce(tx)
      const used = await usage(tx)
      if (licence.nodes !== null && used.nodes + added.nodes > licence.nodes) throw new Refusal('licenceNodesExceeded')
      if (licence.cores !== null && used.cores + added.cores > licence.cores) throw new Refusal('licenceCoresExceeded')
    },

    start: (): Promise<void> => insertInstallation(db, { id: uuidv7(), installed_at: now() }),
  }
}
