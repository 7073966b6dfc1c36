import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ThemeConfig } from 'antd'
import type { ComponentType } from 'react'
import { Visitor, parseSync, type ESTree, type Plugin } from 'vite'
import { edited, type Edit } from './edits.ts'
import { placeholder } from './src/kit/madeStyles.ts'
import { theme } from './src/kit/theme.ts'

/** What makes styles in antd, and what stands in its place: src/kit/madeStyles.ts. */
const standIns = { genStyleHooks: 'styleHooks', genComponentStyleHook: 'styleHook', genSubStyleComponent: 'styleComponent' } as const
type Maker = keyof typeof standIns
const isMaker = (name: string): name is Maker => Object.hasOwn(standIns, name)

/** Of the modules of antd, those that only say how a component looks; by the path within `es`. */
const ofStyles = /\/antd\/es\/(.+\/style\/\w+)\.js$/

/** What a provider of antd's settings draws: what all components share, and the theme's variables. */
const sharedFile = 'config-provider/style/index'

type Hook = (...given: readonly unknown[]) => unknown

interface Made {
  readonly variables: string
  readonly styles: string
}

/**
 * antd makes its styles where they are needed: in each browser, of a tree of functions, and asks for each component on
 * a page whether that was done. We have one theme, so they are made here, once, by antd itself, for a class that is filled in
 * later; and neither those functions nor what calls them is loaded. A component that antd draws in a way that is not
 * understood here ends the build.
 */
export function antdStyles(root: string): Plugin {
  let makers: ReturnType<typeof makersOf> | null = null
  return {
    name: 'zhisuan-antd-styles',
    apply: 'build',
    transform(code, id) {
      const [, file] = ofStyles.exec(id) ?? []
      if (file === undefined) return null
      makers ??= makersOf(root)
      const from = JSON.stringify(join(root, 'src/kit/madeStyles.ts'))
      if (file === sharedFile)
        return { code: `import { sharedStyles } from ${from};\nexport default sharedStyles(${JSON.stringify(makers.shared())})`, map: null }
      const { program } = parseSync(id, code, { lang: 'js' })
      const edits: Edit[] = []
      const given = givenTo(program)
      const of = makers.of(file, given)
      // What stands for other classes than the two that any component is drawn with is filled in where those are known.
      const filled = given.flatMap((name) => (standsFor(name) === placeholderOf(name) ? [`.replaceAll(${JSON.stringify(placeholderOf(name))}, ${name})`] : []))
      new Visitor({
        CallExpression(node) {
          if (node.callee.type !== 'Identifier' || !isMaker(node.callee.name)) return
          const { variables, styles } = of.next(nameOf(node))
          const texts = [...(node.callee.name === 'genStyleHooks' ? [variables] : []), styles].map((text) => JSON.stringify(text) + filled.join(''))
          // The one option that is decided when a component is drawn: a menu within a dropdown has the dropdown's styles.
          const option = node.arguments.some((one) => one.type === 'ObjectExpression' && one.properties.some(isInjectStyle)) ? ['injectStyle'] : []
          edits.push({ start: node.start, end: node.end, text: `${standIns[node.callee.name]}(${[...texts, ...option].join(', ')})` })
        },
      }).visit(program)
      if (edits.length === 0) return null
      return { code: `import { ${Object.values(standIns).join(', ')} } from ${from};\n${edited(code, edits)}`, map: null }
    },
  }
}

const isInjectStyle = (property: ESTree.ObjectExpression['properties'][number]): boolean =>
  property.type === 'Property' && property.shorthand && property.key.type === 'Identifier' && property.key.name === 'injectStyle'

/** The names of what a module's own function is given, where it asks for styles whenever something is drawn; none where it asks once. */
function givenTo(program: ESTree.Program): readonly string[] {
  for (const statement of program.body) {
    if (statement.type !== 'ExportDefaultDeclaration') continue
    const { declaration } = statement
    if (declaration.type !== 'ArrowFunctionExpression' && declaration.type !== 'FunctionDeclaration') continue
    return declaration.params.map((one) => {
      const name = one.type === 'AssignmentPattern' ? one.left : one
      if (name.type !== 'Identifier') throw new Error('antd gives to styles in a way that is new')
      return name.name
    })
  }
  return []
}

const placeholderOf = (name: string): string => `zs-made-${name.toLowerCase()}`
/** What such a function is called with here. */
function standsFor(name: string): unknown {
  if (name === 'prefixCls') return placeholder.prefix
  if (name === 'rootCls') return placeholder.root
  return name === 'injectStyle' ? true : placeholderOf(name)
}

/** `'Table'`, or `['Input', 'Search']` as `Input-Search`: what antd itself keeps them by. */
function nameOf({ arguments: [first] }: ESTree.CallExpression): string {
  if (first?.type === 'Literal') return String(first.value)
  if (first?.type === 'ArrayExpression') return first.elements.map((one) => (one?.type === 'Literal' ? String(one.value) : '')).join('-')
  throw new Error('antd names a component in a way that is new')
}

/** Makes the styles of one module of antd after the other, in the order in which it asks for them. */
function makersOf(root: string) {
  const require = createRequire(join(root, 'package.json'))
  const react = require('react') as typeof import('react')
  const { renderToString } = require('react-dom/server') as typeof import('react-dom/server')
  const { createCache, extractStyle, StyleProvider } = require('@ant-design/cssinjs') as typeof import('@ant-design/cssinjs')

  // antd's own makers, listened to.
  const asked: { readonly name: string; readonly probe: () => ReturnType<typeof react.createElement> }[] = []
  const path = require.resolve('antd/lib/theme/util/genStyleUtils')
  const own = require(path) as Readonly<Record<Maker, (component: string | readonly string[], ...rest: readonly unknown[]) => unknown>>
  const listening =
    (maker: Maker) =>
    (component: string | readonly string[], ...rest: readonly unknown[]) => {
      const made = own[maker](component, ...rest)
      const probe =
        maker === 'genSubStyleComponent'
          ? () =>
              react.createElement(made as ComponentType<{ readonly prefixCls: string; readonly rootCls: string }>, {
                prefixCls: placeholder.prefix,
                rootCls: placeholder.root,
              })
          : () => react.createElement(probeOf(made as Hook))
      asked.push({ name: Array.isArray(component) ? component.join('-') : String(component), probe })
      return made
    }
  const module = require.cache[path]
  if (module === undefined) throw new Error('antd keeps its makers of styles elsewhere')
  module.exports = { ...own, ...Object.fromEntries(Object.keys(standIns).map((maker) => [maker, listening(maker as Maker)])) }
  const ConfigProvider = (require('antd/lib/config-provider') as { readonly default: ComponentType<{ readonly theme: ThemeConfig }> }).default

  const probeOf =
    (hook: Hook, given: readonly unknown[] = [placeholder.prefix, placeholder.root]) =>
    () => {
      hook(...given)
      return null
    }

  /** What antd keeps after drawing this. */
  const drawn = (probe: (typeof asked)[number]['probe']) => {
    const cache = createCache()
    renderToString(react.createElement(StyleProvider, { cache }, react.createElement(ConfigProvider, { theme }, probe())))
    return cache
  }
  /** The text of those of its styles that are shared by all components, or of the others. */
  const textOf = (cache: ReturnType<typeof createCache>, types: readonly ('cssVar' | 'style' | 'token')[], shared: boolean): string => {
    for (const key of cache.cache.keys()) if (key.startsWith('style%') && /%(Shared|ant-design-icons)%/.test(key) !== shared) cache.cache.delete(key)
    // It ends with what it would look up to know what was sent along with a page.
    return extractStyle(cache, { plain: true, types: [...types] }).replace(/\.data-ant-cssinjs-cache-path\{.*?\}$/, '')
  }

  return {
    /** Of all components: the theme's variables, links and icons. */
    shared(): string {
      const any = require('antd/lib/button/style') as { readonly default: Hook }
      return textOf(
        drawn(() => react.createElement(probeOf(any.default))),
        ['token', 'style'],
        true,
      )
    },
    /** One module's, each when its name is asked for, in the order in which they stand there. */
    of(file: string, given: readonly string[]) {
      const loaded = require(`antd/lib/${file}`) as { readonly default?: Hook }
      const taken = new Map<string, number>()
      return {
        next(name: string): Made {
          const nth = taken.get(name) ?? 0
          taken.set(name, nth + 1)
          const known = asked.filter((one) => one.name === name)[nth]
          // What is asked for only when it is drawn is drawn as a whole.
          const whole = given.length > 0 ? loaded.default : undefined
          const cache = known === undefined ? whole && drawn(() => react.createElement(probeOf(whole, given.map(standsFor)))) : drawn(known.probe)
          if (cache === undefined || !asked.some((one) => one.name === name)) throw new Error(`antd makes the styles of ${name} in a way that is new`)
          return { variables: textOf(cache, ['cssVar'], false), styles: textOf(cache, ['style'], false) }
        },
      }
    },
  }
}
