import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { minify, transformWithOxc, type Plugin } from 'vite'
import type { NeededPage } from './needs.ts'

/** Puts src/early.ts first into the page: a file of its own, as the page's policy allows no script within it. */
export function earlyScript(root: string): Plugin {
  const script = async () => {
    const file = join(root, 'src/early.ts')
    const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file)
    const { code: source } = await minify(file, code)
    return { source, fileName: `assets/${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.js` }
  }
  return {
    name: 'zhisuan-early',
    apply: 'build',
    async generateBundle() {
      this.emitFile({ type: 'asset', ...(await script()) })
    },
    transformIndexHtml: async () => [{ tag: 'script', attrs: { src: `/${(await script()).fileName}` }, injectTo: 'head-prepend' as const }],
  }
}

/** What the server reads to have a browser load at once what a page needs: platform/http/console.ts. */
export interface PagePreloads {
  /** Of its address, as a regular expression. */
  readonly pattern: string
  /** Whether only who has signed in sees it. */
  readonly inside: boolean
  readonly scripts: readonly string[]
  readonly styles: readonly string[]
}

/** Keeps beside the manifest which files each page needs: one after the other, as each tells of the next, takes a round trip each. */
export function preloads(root: string, pages: readonly NeededPage[]): Plugin {
  return {
    name: 'zhisuan-preloads',
    apply: 'build',
    generateBundle: {
      // After what is only styles has lost its script.
      order: 'post',
      handler(_, bundle) {
        const chunks = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? [one] : []))
        const byName = new Map(chunks.map((one) => [one.fileName, one]))
        const byModule = new Map(chunks.flatMap((one) => one.moduleIds.map((id) => [id.split('?', 1)[0] ?? id, one.fileName] as const)))
        const withImports = (modules: readonly string[]): ReadonlySet<string> => {
          const files = new Set(modules.flatMap((module) => byModule.get(module) ?? []))
          for (const file of files) for (const next of byName.get(file)?.imports ?? []) files.add(next)
          return files
        }
        const first = withImports([join(root, 'src/main.tsx')])
        const listed = pages.map(({ pattern, inside, frame, own }): PagePreloads => {
          const files = withImports([...frame, ...own]).difference(first)
          const styles = new Set([...files].flatMap((file) => [...(byName.get(file)?.viteMetadata?.importedCss ?? [])]))
          return { pattern: pattern.source, inside, scripts: [...files].map((file) => `/${file}`), styles: [...styles].map((file) => `/${file}`) }
        })
        // As routeAt chooses: an address that is spelled out before one with parameters.
        const sorted = listed.toSorted((one, other) => Number(one.pattern.includes('[^/]+')) - Number(other.pattern.includes('[^/]+')))
        this.emitFile({ type: 'asset', fileName: '.vite/preloads.json', source: JSON.stringify(sorted) })
      },
    },
  }
}
