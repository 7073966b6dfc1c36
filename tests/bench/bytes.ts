import type { Figure } from './main.ts'

/** Gzipped script of a page and all that it loads, from the built console. */
export async function benchBytes(): Promise<Figure[]> {
  return []
}
