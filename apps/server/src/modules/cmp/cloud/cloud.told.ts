import type { Cloud } from '@zhisuan/contract/cmp/cloud'
import { fillText } from '@zhisuan/contract/errors'
import { messageTexts } from '@zhisuan/contract/texts'
import type { Tx } from '../../../platform/db/database.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import type { CloudRow } from './cloud.store.ts'

const texts: Readonly<Partial<Record<Cloud['health'], string>>> = {
  unreachable: messageTexts.cloudUnreachable,
  unauthorised: messageTexts.cloudUnauthorised,
}

/**
 * Tells who runs the platform that a cloud is gone, or is there again: once for each change, however often it is looked at.
 * @param before the row, held by the transaction in which it became `after`
 */
export async function tellHealth(tx: Tx, tell: Tell, before: CloudRow, after: CloudRow): Promise<void> {
  const [was, is] = [texts[before.health], texts[after.health]]
  // That nobody gets in is as good as that nobody answers: between the two there is no news.
  if ((was === undefined) === (is === undefined)) return
  const { id, name } = after
  await tell(tx, {
    kind: is === undefined ? 'cmp.cloudReachable' : 'cmp.cloudUnreachable',
    bp_id: null,
    text: fillText(is ?? messageTexts.cloudReachable, { name }),
    about: { kind: 'cmp.cloud', id, name },
    key: `${id} ${after.checked_at?.toISOString() ?? ''}`,
  })
}
