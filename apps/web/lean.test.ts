import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, transformWithOxc } from 'vite'
import { describe, expect, it } from 'vitest'
import { lean } from './lean.ts'

const root = import.meta.dirname
const contract = join(root, '../../packages/contract/src/')
const plugin = lean(root) as unknown as {
  readonly load: (id: string) => Promise<{ readonly code: string } | null>
  readonly transform: (code: string, id: string) => Promise<{ readonly code: string } | null>
}
const transformed = async (code: string, id = join(root, 'src/a.ts')): Promise<string> => (await plugin.transform(code, id))?.code ?? code

describe('what a module takes of the contract', () => {
  it('is what calls need, where it only makes them', async () => {
    expect(await transformed(`import { vms, vmTypes } from '@zhisuan/contract/nextstack/vm'\nuse(vms.list, vmTypes)`)).toContain('nextstack/vm?lean')
    expect((await plugin.load(`${contract}ums/auth.ts?lean`))?.code).toContain(
      'password: {"id":"ums.auth.password","method":"POST","path":"/api/ums/v1/auth/password/tokens","access":"public"}',
    )
    expect((await plugin.load(`${contract}nextstack/vm.ts?lean`))?.code).not.toMatch(/\bz\.|defineCall/)
  })

  it('says of what is read that it is audited: such answers are not asked early', async () => {
    expect((await plugin.load(`${contract}ecrm/edge.ts?lean`))?.code).toMatch(/"ecrm\.edge\.qrcode"(?:(?!"id":).)*"audit":true/)
  })

  it.each([
    ['a field of its body', 'rules(vms.rename.body.shape.name)'],
    ['its body under that name', 'const { body } = vms.rename'],
    ['all of it', 'const { ...rest } = vms.rename'],
    ['its body by another name of the call', 'const call = vms.rename\nrules(call.body.shape.name)'],
    ['its body, or that of another', 'rules((made ? vms.rename : vms.create).body.shape.name)'],
  ])('is the whole, where it reads of a call %s', async (_, code) => {
    expect(await transformed(`import { vms } from '@zhisuan/contract/nextstack/vm'\n${code}`)).not.toContain('?lean')
  })

  it('is the whole of what is a schema itself, and lean of the rest', async () => {
    const code = await transformed(`import { vms, vm } from '@zhisuan/contract/nextstack/vm'\nuse(vms.list, vm)`)
    expect(code).toContain('import { vms as vms } from "@zhisuan/contract/nextstack/vm?lean"')
    expect(code).toContain('import { vm as vm } from "@zhisuan/contract/nextstack/vm"')
  })

  it('is a constant where it reads one, but not of its own variable of that name', async () => {
    const imported = `import { errors } from '@zhisuan/contract/errors'\n`
    expect((await transformed(`${imported}if (code === errors.tokenInvalid.code) go(errors.tokenInvalid.text.trim())`)).trim()).toBe(
      'if (code === (90008)) go(("登录已失效，请重新登录").trim())',
    )
    expect(await transformed(`${imported}go(errors.tokenInvalid.code, errors[name])`)).toMatch(/import .* from "?'?@zhisuan\/contract\/errors/)
    expect(await transformed(`${imported}go((errors) => errors.tokenInvalid.code)`)).toContain('=> errors.tokenInvalid.code')
  })
})

/** All modules that come with these, as the build reads them. */
async function comingWith(...entries: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set(entries.map((entry) => join(root, 'src', entry)))
  for (const id of found) {
    const [file = '', query] = id.split('?', 2)
    if (!file.startsWith('/') || !/\.tsx?$/.test(file)) continue
    const source = query === 'lean' ? (await plugin.load(id))?.code : (await transformWithOxc(readFileSync(file, 'utf8'), file)).code
    const { program } = parseSync(file, await transformed(source ?? '', id), { lang: 'js' })
    for (const statement of program.body) {
      if (statement.type !== 'ImportDeclaration') continue
      const [name = '', form] = statement.source.value.split('?', 2)
      const path = name.startsWith('.') ? join(file, '..', name) : name.startsWith('@zhisuan/contract/') ? `${contract}${name.slice(18)}.ts` : name
      found.add(form === undefined ? path : `${path}?${form}`)
    }
  }
  return found
}

describe('zod does not come', () => {
  it.each([
    ['the sign-in page', ['features/public/LoginPage.tsx']],
    ['the first list', ['layout/ConsoleLayout.tsx', 'kit/Antd.tsx', 'features/nextstack/vm/VmList.tsx']],
  ])('with %s', async (_, entries) => {
    const all = await comingWith('main.tsx', ...entries)
    expect(all.size).toBeGreaterThan(50)
    expect([...all].filter((id) => id === 'zod')).toEqual([])
  })
})

/** In development, where everything is whole, answers are judged too. */
const inDevelopment = 'api/client.ts: call.response'

it('of a call that is handed on, nobody asks for more than its lean form has', () => {
  const asked = globSync('**/*.{ts,tsx}', { cwd: join(root, 'src') })
    .filter((file) => !file.includes('.test.'))
    .flatMap((file) =>
      [...readFileSync(join(root, 'src', file), 'utf8').matchAll(/\bcall\.(\w+)/g)].map(([text, name]) => ({ name, where: `${file}: ${text}` })),
    )
  expect(asked.length).toBeGreaterThan(10)
  const lean = ['id', 'method', 'path', 'access', 'lines', 'paged', 'audit', 'keyed']
  expect(asked.filter(({ name = '', where }) => !lean.includes(name) && where !== inDevelopment).map(({ where }) => where)).toEqual([])
})
