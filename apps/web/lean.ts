import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../../packages/contract/src/define.ts'
import { Visitor, parseSync, transformWithOxc, type ESTree, type Plugin } from 'vite'
import { edited, type Edit, type Span } from './edits.ts'

/** What a client needs of a call: to make it, and to know who may. Its schemas are for whoever checks what is in it: the server, and forms. */
const leanCall = ({ id, method, path, access, lines, paged, audit, keyed }: Call) => ({
  id,
  method,
  path,
  access,
  ...(lines && { lines }),
  ...(paged && { paged }),
  ...(keyed && { keyed }),
  // Told of reads only: what a browser asks early it must not make by asking.
  ...(method === 'GET' && audit && { audit }),
})

/** The parts of a call that are not there in its lean form. */
const schemas = new Set(['params', 'query', 'body', 'response'])

const suffix = '?lean'

interface Lean {
  readonly code: string
  /** What can be had of the module without its schemas. */
  readonly names: ReadonlySet<string>
  /** Whether something cannot. */
  readonly partly: boolean
}

/**
 * Every call is declared once, with its schemas, and a page that only makes it would load all of them and zod with
 * them. So a module of the contract comes in two forms: as it is written, for whoever checks by its schemas, and lean,
 * with what a client needs of each call and without whatever is made of schemas. Which of them an import means follows
 * from what is done with what it names: reading `body` of a call takes the whole. What this does not understand is
 * taken whole too, which costs bytes and nothing else.
 */
export function lean(root: string): Plugin {
  const contract = join(root, '../../packages/contract/src/')
  const sources = join(root, 'src/')
  const known = new Map<string, Promise<Lean>>()
  const isContract = (id: string): boolean => id.startsWith(contract) && id.endsWith('.ts')
  let calls: Promise<ReadonlyMap<string, Call>> | null = null
  const callsById = () => (calls ??= import('../../packages/contract/src/calls.ts').then(({ allCalls }) => new Map(allCalls.map((call) => [call.id, call]))))

  const leanOf = (file: string): Promise<Lean> => {
    const made = known.get(file) ?? make(file)
    known.set(file, made)
    return made
  }

  async function make(file: string): Promise<Lean> {
    const byId = await callsById()
    // Without types: what is only said of a schema is no use of it.
    const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file)
    const { program } = parseSync(file, code, { lang: 'js' })
    const edits: Edit[] = []
    const replaced: Span[] = []
    new Visitor({
      CallExpression(node) {
        const call = node.callee.type === 'Identifier' && node.callee.name === 'defineCall' ? byId.get(idOf(node) ?? '') : undefined
        if (call === undefined) return
        replaced.push(node)
        edits.push({ start: node.start, end: node.end, text: JSON.stringify(leanCall(call)) })
      },
    }).visit(program)

    // Whatever mentions something that is made of schemas is made of schemas itself.
    const ofSchemas = new Set<string>()
    const imports = program.body.filter((statement) => statement.type === 'ImportDeclaration')
    for (const { source, specifiers } of imports) {
      const from = fileOf(source.value, file)
      const of = from === null ? null : await leanOf(from)
      for (const one of specifiers) if (of?.names.has(importedName(one) ?? '') !== true) ofSchemas.add(one.local.name)
    }
    const statements = program.body
      .filter((statement) => statement.type !== 'ImportDeclaration')
      .map((statement) => ({ statement, declared: declaredBy(statement), mentioned: mentionedIn(statement, replaced) }))
    const left = new Set(statements)
    for (let before = -1; before !== left.size;) {
      before = left.size
      for (const one of left) {
        if (one.declared !== null && one.mentioned.isDisjointFrom(ofSchemas)) continue
        left.delete(one)
        for (const name of one.declared ?? []) ofSchemas.add(name)
        edits.push({ start: one.statement.start, end: one.statement.end, text: '' })
      }
    }
    const mentioned = new Set([...left].flatMap((one) => [...one.mentioned]))
    for (const statement of imports) {
      edits.push({
        start: statement.start,
        end: statement.end,
        text: written(
          statement,
          statement.specifiers.filter((one) => mentioned.has(one.local.name)),
        ),
      })
    }
    const exported = [...left].flatMap(({ statement, declared }) => (statement.type === 'ExportNamedDeclaration' ? (declared ?? []) : []))
    return { code: edited(code, edits), names: new Set(exported), partly: left.size < statements.length || replaced.length > 0 }
  }

  /** What is read of the contract's constants, written out: `errors.x.code` needs not all errors. And the names that nothing else is done with. */
  async function constantsOf(program: ESTree.Program, importer: string): Promise<{ edits: Edit[]; gone: ReadonlySet<string> }> {
    const values = new Map<string, unknown>()
    for (const statement of program.body) {
      const from = statement.type === 'ImportDeclaration' ? fileOf(statement.source.value, importer) : null
      if (statement.type !== 'ImportDeclaration' || from === null) continue
      const exported = (await import(from)) as Readonly<Record<string, unknown>>
      for (const one of statement.specifiers) values.set(one.local.name, exported[importedName(one) ?? ''])
    }
    const { declared, used } = namesIn(program)
    for (const name of declared) values.delete(name)
    const edits: Edit[] = []
    const written = new Map<string, Set<number>>()
    const read = (node: ESTree.Expression): { readonly name: string; readonly at: number; readonly value: unknown } | null => {
      if (node.type === 'Identifier') return values.has(node.name) ? { name: node.name, at: node.start, value: values.get(node.name) } : null
      if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier' || node.object.type === 'Super') return null
      const of = read(node.object)
      const isRecord = typeof of?.value === 'object' && of.value !== null && Object.hasOwn(of.value, node.property.name)
      return isRecord ? { ...of, value: (of.value as Readonly<Record<string, unknown>>)[node.property.name] } : null
    }
    new Visitor({
      MemberExpression(node) {
        const found = read(node)
        if (found === null || !['string', 'number', 'boolean'].includes(typeof found.value)) return
        edits.push({ start: node.start, end: node.end, text: `(${JSON.stringify(found.value)})` })
        written.set(found.name, (written.get(found.name) ?? new Set()).add(found.at))
      },
    }).visit(program)
    return { edits, gone: new Set([...values.keys()].filter((name) => used.get(name) === written.get(name)?.size && used.has(name))) }
  }

  /** The module of the contract that an import names, or null. */
  const fileOf = (source: string, importer: string): string | null => {
    if (source.startsWith('@zhisuan/contract/')) return join(contract, `${source.slice('@zhisuan/contract/'.length)}.ts`)
    const file = source.startsWith('.') ? join(importer, '..', source) : ''
    return isContract(file) ? file : null
  }

  return {
    name: 'zhisuan-lean',
    apply: 'build',
    async resolveId(source, importer) {
      if (!source.endsWith(suffix)) return null
      const resolved = await this.resolve(source.slice(0, -suffix.length), importer?.split('?', 1)[0])
      return resolved === null ? null : { id: `${resolved.id}${suffix}`, moduleSideEffects: false }
    },
    async load(id) {
      if (!id.endsWith(suffix)) return null
      return { code: (await leanOf(id.slice(0, -suffix.length))).code, moduleType: 'js' }
    },
    async transform(code, id) {
      const [importer = '', query] = id.split('?', 2)
      if (!(importer.startsWith(sources) && /\.tsx?$/.test(importer) && query === undefined) && !(isContract(importer) && `?${query}` === suffix)) return null
      const { program } = parseSync(importer, code, { lang: 'js' })
      const checked = checkedIn(program)
      const { edits, gone } = await constantsOf(program, importer)
      for (const statement of program.body) {
        if (statement.type !== 'ImportDeclaration') continue
        const from = fileOf(statement.source.value, importer)
        if (from === null || statement.specifiers.length === 0) continue
        const { names, partly } = await leanOf(from)
        const specifiers = statement.specifiers.filter((one) => !gone.has(one.local.name))
        if (!partly) {
          if (specifiers.length < statement.specifiers.length) edits.push({ start: statement.start, end: statement.end, text: written(statement, specifiers) })
          continue
        }
        const { yes = [], no = [] } = Object.groupBy(specifiers, (one) => {
          const name = importedName(one)
          return name !== null && names.has(name) && !checked.has(one.local.name) ? 'yes' : 'no'
        })
        edits.push({ start: statement.start, end: statement.end, text: written(statement, yes, suffix) + written(statement, no) })
      }
      return edits.length === 0 ? null : { code: edited(code, edits), map: null }
    },
  }
}

type ImportSpecifier = ESTree.ImportDeclaration['specifiers'][number]

/** An import of these names only, each by its name; nothing where there are none. */
function written({ source, specifiers }: ESTree.ImportDeclaration, only: readonly ImportSpecifier[], end = ''): string {
  if (only.length === 0 && specifiers.length > 0) return ''
  const from = JSON.stringify(`${source.value}${end}`)
  const names = only.map((one) => `${importedName(one) ?? 'default'} as ${one.local.name}`)
  // A namespace is everything.
  const all = only.find(({ type }) => type === 'ImportNamespaceSpecifier')
  return all === undefined ? `import { ${names.join(', ')} } from ${from};` : `import * as ${all.local.name} from ${from};`
}

const importedName = (specifier: ImportSpecifier): string | null =>
  specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier' ? specifier.imported.name : null

/** The id that a declaration of a call writes out. */
function idOf({ arguments: [definition] }: ESTree.CallExpression): string | null {
  if (definition?.type !== 'ObjectExpression') return null
  for (const property of definition.properties) {
    if (property.type === 'Property' && property.key.type === 'Identifier' && property.key.name === 'id' && property.value.type === 'Literal')
      return String(property.value.value)
  }
  return null
}

/** The names that a statement declares; null where it does something else. */
function declaredBy(statement: ESTree.Statement | ESTree.Directive): readonly string[] | null {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declaration?.type === 'FunctionDeclaration' || declaration?.type === 'ClassDeclaration') return declaration.id === null ? null : [declaration.id.name]
  if (declaration?.type !== 'VariableDeclaration') return null
  const names = declaration.declarations.map(({ id }) => (id.type === 'Identifier' ? id.name : null))
  return names.every((name) => name !== null) ? names : null
}

/** Every name that stands in a statement for a value, but for those within what is replaced. */
function mentionedIn(statement: ESTree.Statement | ESTree.Directive, replaced: readonly Span[]): ReadonlySet<string> {
  const { start, end } = statement
  const { places } = namesIn({ type: 'Program', body: [statement], sourceType: 'module', hashbang: null, start, end } as ESTree.Program)
  return new Set(places.filter((at) => !replaced.some((span) => span.start <= at.start && at.end <= span.end)).map(({ name }) => name))
}

/** The names that stand for values, where; how often each but where it is imported; and those that are declared within. */
function namesIn(program: ESTree.Program) {
  const places: (Span & { readonly name: string })[] = []
  const keys = new Set<unknown>()
  const patterns: Span[] = []
  new Visitor({
    MemberExpression: ({ computed, property }) => void (!computed && keys.add(property)),
    Property: ({ computed, key }) => void (!computed && keys.add(key)),
    ImportDeclaration: ({ specifiers }) => {
      for (const one of specifiers) {
        keys.add(one.local)
        if (one.type === 'ImportSpecifier') keys.add(one.imported)
      }
    },
    VariableDeclarator: ({ id }) => void patterns.push(id),
    FunctionDeclaration: ({ params }) => void patterns.push(...params),
    FunctionExpression: ({ params }) => void patterns.push(...params),
    ArrowFunctionExpression: ({ params }) => void patterns.push(...params),
    CatchClause: ({ param }) => void (param !== null && patterns.push(param)),
    Identifier(node) {
      if (!keys.has(node)) places.push({ name: node.name, start: node.start, end: node.end })
    },
  }).visit(program)
  const used = new Map<string, number>()
  for (const { name } of places) used.set(name, (used.get(name) ?? 0) + 1)
  const isDeclared = (at: Span): boolean => patterns.some(({ start, end }) => start <= at.start && at.end <= end)
  return { places, used, declared: new Set(places.filter(isDeclared).map(({ name }) => name)) }
}

/** What an expression is taken out of, by name: `clouds` of `clouds.create`, both of a choice between two. */
function takenFrom(of: ESTree.Expression | ESTree.Super | null): readonly string[] {
  if (of?.type === 'Identifier') return [of.name]
  if (of?.type === 'MemberExpression') return takenFrom(of.object)
  if (of?.type === 'ParenthesizedExpression') return takenFrom(of.expression)
  if (of?.type === 'ConditionalExpression') return [...takenFrom(of.consequent), ...takenFrom(of.alternate)]
  return []
}

/** The names of which a module reads schemas: `clouds.create.body`, `const { body } = clouds.create`, also by another name of theirs. */
function checkedIn(program: ESTree.Program): ReadonlySet<string> {
  const names = new Set<string>()
  const others: { readonly name: string; readonly of: readonly string[] }[] = []
  const add = (of: ESTree.Expression | ESTree.Super | null): void => {
    for (const name of takenFrom(of)) names.add(name)
  }
  new Visitor({
    MemberExpression({ object, property }) {
      if (property.type === 'Identifier' && schemas.has(property.name)) add(object)
    },
    VariableDeclarator({ id, init }) {
      if (id.type === 'ObjectPattern' && id.properties.some((one) => one.type !== 'Property' || (one.key.type === 'Identifier' && schemas.has(one.key.name))))
        add(init)
      if (id.type === 'Identifier') others.push({ name: id.name, of: takenFrom(init) })
    },
  }).visit(program)
  // What is added is looked at too: one may be named after another.
  for (const name of names) for (const other of others) if (other.name === name) for (const of of other.of) names.add(of)
  return names
}
