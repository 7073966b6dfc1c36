/** A reader is told of new messages no more often than that, however many come. */
export const quietMs = 60_000

/**
 * Whether a number of unread messages is worth saying aloud: it has risen while somebody is here. What was there before
 * they came, and what they read, is seen and not said.
 * @param saidAt when something was last said; null where nothing was
 */
export const isNews = (former: number | null, count: number, saidAt: number | null, now: number): boolean =>
  former !== null && count > former && (saidAt === null || now - saidAt >= quietMs)
