/** Whether a name is meant by a pattern: `*` stands for any characters, `?` for one. In time that is linear in both for one star, and bounded for many. */
export function isMeant(pattern: string, name: string): boolean {
  let [at, in_pattern, star, restart] = [0, 0, -1, 0]
  while (at < name.length) {
    if (in_pattern < pattern.length && (pattern[in_pattern] === '?' || pattern[in_pattern] === name[at]) && pattern[in_pattern] !== '*') {
      at++
      in_pattern++
    } else if (pattern[in_pattern] === '*') {
      star = in_pattern++
      restart = at
    } else if (star >= 0) {
      in_pattern = star + 1
      at = ++restart
    } else return false
  }
  while (pattern[in_pattern] === '*') in_pattern++
  return in_pattern === pattern.length
}

export const isMeantByAny = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => isMeant(pattern, name))
