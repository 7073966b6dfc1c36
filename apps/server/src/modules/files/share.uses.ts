import { Refusal } from '../../platform/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import * as store from './files.store.ts'

/** What is asked for by one use of a link: bytes of something so large, or an archive whose end alone tells its size. */
export interface AskedOfShare {
  readonly size: number | null
  readonly range: { readonly start: number; readonly end: number } | undefined
}

export type ShareUses = ReturnType<typeof createShareUses>

/**
 * Downloads by shares, counted as they are begun. A link that somebody was given is good for one: whoever begins anew at the
 * beginning takes another, and whoever goes on where it broke off, or fetches it in pieces, does not, as long as what goes out
 * is not more than twice its size.
 */
export function createShareUses({ db, now }: Pick<Platform, 'db' | 'now'>) {
  const refuseEnded = (share: { readonly ends_at: Date | null } | undefined): void => {
    if (share === undefined || (share.ends_at !== null && share.ends_at <= now())) throw new Refusal('shareGone')
  }
  return {
    /** @throws Refusal shareGone where it has ended or was taken back */
    look: async (share: string): Promise<void> => refuseEnded(await store.anyShare(db, share)),
    /**
     * @param use of which link
     * @returns says at its end how much of it really went
     * @throws Refusal shareGone, shareExhausted
     */
    async begin(share: string, use: string, { size, range }: AskedOfShare): Promise<(went: number) => Promise<void>> {
      const wanted = range === undefined ? (size ?? 0) : range.end - range.start + 1
      // Tools ask for the first byte to learn the size.
      const begins = range === undefined || (range.start === 0 && (range.end > 0 || size === 1))
      await db.transaction().execute(async (tx) => {
        refuseEnded(await store.lockShare(tx, share))
        const before = await store.shareUse(tx, use)
        const another = before === undefined || (begins && before.begun) || before.asked_bytes + wanted > 2 * (size ?? 0)
        if (another && !(await store.takeDownload(tx, share))) throw new Refusal('shareExhausted')
        await store.putShareUse(tx, {
          id: use,
          share_id: share,
          begun: begins || (!another && before.begun),
          asked_bytes: wanted + (another ? 0 : before.asked_bytes),
        })
      })
      return (went) => store.giveBackShareUse(db, use, Math.max(0, wanted - went))
    },
    /** Links of that time lead nowhere any more. */
    forget: (): Promise<void> => store.forgetShareUses(db, new Date(now().getTime() - 86_400_000)),
  }
}
