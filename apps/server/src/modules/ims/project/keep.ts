import type { KeepRule } from '@zhisuan/contract/ims/project'
import { isMeantByAny } from '../repository/patterns.ts'

/** A tag as rules look at it. */
export interface KeptTag {
  readonly repository: string
  readonly name: string
  readonly pushed_at: Date
  readonly pulled_at: Date | null
}

const dayMs = 24 * 3_600_000

/**
 * What rules leave to the bin: of the repositories that some rule is about whatever none of them keeps. Others are left alone.
 * A rule without a number and without days keeps all that it means.
 */
export function notKept<Tag extends KeptTag>(rules: readonly KeepRule[], tags: readonly Tag[], now: Date): Tag[] {
  const left: Tag[] = []
  for (const [repository, own] of Map.groupBy(tags, (tag) => tag.repository)) {
    const concerned = rules.filter((rule) => isMeantByAny(rule.repositories, repository))
    if (concerned.length === 0) continue
    const kept = new Set<Tag>()
    const newestFirst = own.toSorted((one, other) => other.pushed_at.getTime() - one.pushed_at.getTime())
    for (const { tags: patterns, newest, days } of concerned) {
      const meant = newestFirst.filter(({ name }) => isMeantByAny(patterns, name))
      if (newest === null && days === null) for (const tag of meant) kept.add(tag)
      if (newest !== null) for (const tag of meant.slice(0, newest)) kept.add(tag)
      if (days !== null) {
        const since = now.getTime() - days * dayMs
        for (const tag of meant) if (Math.max(tag.pushed_at.getTime(), tag.pulled_at?.getTime() ?? 0) >= since) kept.add(tag)
      }
    }
    left.push(...own.filter((tag) => !kept.has(tag)))
  }
  return left
}
