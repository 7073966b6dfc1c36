import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What the linter does not see of imports (.oxlintrc.json says the rest). */
const root = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const sources = globSync('{apps,packages}/*/src/**/*.{ts,tsx}', { cwd: root })

describe('imports', () => {
  it('are from where a thing is defined: nothing is exported once more', () => {
    expect(sources.length).toBeGreaterThan(1_000)
    expect(sources.filter((file) => /^export (type )?(\*|\{)/m.test(read(file)))).toEqual([])
  })

  it('of texts are from i18n.ts: of the library there are only its types', () => {
    expect(sources.filter((file) => /^import \{[^;']*from '(react-)?i18next'/m.test(read(file)))).toEqual([])
  })

  it('of what is loaded later obey the same faces', () => {
    const faces = new Set([...read('.oxlintrc.json').matchAll(/"!\.\.\/([a-z][\w-]*\/[^"]+)"/g)].flatMap(([, path = '']) => `features/${path}`))
    const web = 'apps/web/src/'
    const later = sources
      .filter((file) => file.startsWith(web))
      .flatMap((file) => {
        const from = file.slice(web.length)
        return [...read(file).matchAll(/\bimport\(\s*'(\.[^']+)'/g)].map(([, path = '']) => ({ from, to: new URL(path, `file:///${from}`).pathname.slice(1) }))
      })
    const isForbidden = ({ from, to }: { readonly from: string; readonly to: string }): boolean => {
      const [room, feature] = from.split('/')
      const [toRoom, toFeature] = to.split('/')
      if (room !== 'features') return ['api', 'kit', 'layout', 'session', 'locales'].includes(room ?? '') && toRoom === 'features'
      if (toRoom !== 'features') return toRoom === 'layout' || to === 'App.tsx' || to === 'pages.ts'
      return feature !== toFeature && !faces.has(to)
    }
    expect(faces.size).toBeGreaterThan(0)
    expect(later.length).toBeGreaterThan(100)
    expect(later.filter(isForbidden).map(({ from, to }) => `${from}: ${to}`)).toEqual([])
  })
})
