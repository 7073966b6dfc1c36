// How much script a page loads, gzipped: the entry with its static imports, and the chunks that the
// page and its layout add. Reads Vite's manifest of the last build.
//   node apps/web/scripts/bytes.ts            the two pages that have a budget
//   node apps/web/scripts/bytes.ts SRC…       any sources, such as src/features/nextstack/vm/VmListPage.tsx
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly isEntry?: boolean
}

const dist = join(import.meta.dirname, '..', 'dist')
// Vite writes the manifest; its shape is documented.
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

const contents = JSON.parse(readFileSync(join(dist, '.vite', 'contents.json'), 'utf8')) as Readonly<Record<string, Readonly<Record<string, number>>>>

/** What the manifest calls the chunk that a source is in, alone or with others. */
const keyOf = (source: string): string =>
  manifest[source] === undefined
    ? (Object.entries(manifest).find(([, { file }]) => contents[file]?.[`apps/web/${source}`] !== undefined)?.[0] ?? source)
    : source

/** The files of the given sources and of everything that they import statically. */
export function filesOf(sources: readonly string[]): string[] {
  const seen = new Set<string>()
  const visit = (key: string): void => {
    const chunk = manifest[key]
    if (chunk === undefined) throw new Error(`${key} is in no chunk of the build`)
    if (seen.has(key)) return
    seen.add(key)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const source of sources) visit(keyOf(source))
  return [...new Set([...seen].map((key) => manifest[key]?.file ?? ''))].filter((file) => file.endsWith('.js'))
}

const gzipBytes = (files: readonly string[]): number => files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0)

/** What the budgets are about. Sources beyond the entry are what the address makes it import. */
export const pages = {
  login: { sources: ['src/features/public/LoginPage.tsx', 'src/locales/zh/public.ts'], budgetKb: 130 },
  list: {
    sources: [
      'src/layout/ConsoleLayout.tsx',
      'src/pages.ts',
      'src/features/nextstack/vm/VmList.tsx',
      'src/locales/zh/nextstack.ts',
      'src/locales/zh/snapshot.ts',
    ],
    budgetKb: 450,
  },
} as const

if (import.meta.main) {
  const asked = process.argv.slice(2)
  const wanted = asked.length > 0 ? { asked: { sources: asked, budgetKb: null } } : pages
  for (const [name, { sources, budgetKb }] of Object.entries(wanted)) {
    const files = filesOf(['index.html', ...sources])
    const kb = gzipBytes(files) / 1024
    console.log(`${name}\t${kb.toFixed(1)} KB gzip in ${files.length} files${budgetKb === null ? '' : `\tbudget ${budgetKb} KB`}`)
    for (const file of files) console.log(`\t${(gzipBytes([file]) / 1024).toFixed(1)}\t${file}`)
    if (budgetKb !== null && kb > budgetKb) process.exitCode = 1
  }
}
