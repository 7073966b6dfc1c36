import { isDeepStrictEqual } from 'node:util'
import { documentOf, readyMade, readyMadeBy, type ReadyMade } from '@zhisuan/contract/iam/readyMade'
import { policyLimits } from '@zhisuan/contract/policy/document'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import * as store from './ready-made.store.ts'

/**
 * Makes the rows of what is ready for every organisation as the contract says, at each start: they are policies and roles
 * of the platform like others, so that all that decides, gives and explains them is the same. One that says something else
 * than before has another version; what people have of it goes on. At once with others that start it is done once.
 * @param tell that rights have changed
 */
export const keepReadyMade = (db: Db, tell: (tx: Tx) => Promise<void>, made: readonly ReadyMade[] = readyMade): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await store.hold(tx)
    const known = await store.known(tx)
    let changed = false
    for (const one of made) {
      const [document, before] = [documentOf(one), known.get(one.key)]
      const named = { name: one.name, description: one.about }
      if (before === undefined) {
        await store.insert(
          tx,
          one.key,
          { policy: { id: uuidv7(), ...named }, role: { id: uuidv7(), ...named, base: one.base }, grant: uuidv7() },
          document,
          readyMadeBy,
        )
        continue
      }
      if (before.name !== one.name || before.description !== one.about || before.base !== one.base) {
        await store.rename(tx, one.key, { ...named, base: one.base })
        changed = true
      }
      if (!isDeepStrictEqual(before.document, document)) {
        await store.addVersion(tx, before, document, readyMadeBy, policyLimits.versions)
        changed = true
      }
    }
    if (changed) await tell(tx)
  })
