import { randomInt } from 'node:crypto'
import { until } from '../support/server.ts'

/** A number that nobody in these tests has yet. */
export const newPhone = (): string => `139${String(randomInt(100_000_000)).padStart(8, '0')}`

interface Item {
  readonly address: string
  readonly text: string
}

/** The newest code that the development server kept instead of sending it; `already` came before. */
export async function codeFor(url: string, address: string, already = 0): Promise<string> {
  return until(async () => {
    const { items } = (await (await fetch(`${url}/api/dev/v1/inbox`)).json()) as { items: readonly Item[] }
    const mine = items.filter((item) => item.address === address)
    return mine.length > already && /\d{6}/.exec(mine[0]?.text ?? '')?.[0]
  }, `a code for ${address}`)
}
