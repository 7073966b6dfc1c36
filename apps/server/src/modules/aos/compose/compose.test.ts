import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillText } from '@zhisuan/contract/errors'
import { composeTexts } from '@zhisuan/contract/texts'
import { Refusal } from '../../../platform/errors.ts'
import { checkCompose, fileForNode, judged, prepare, termsOf, valuesOf } from './compose.ts'

const who = { kind: 2, bp_id: 'o' }
/** On a node of somebody else. */
const tenant = termsOf(who, [{ bp_id: null }], [])
const errorsOf = (text: string, terms = tenant) => checkCompose(text, terms).problems.filter(({ severity }) => severity === 'error')
const service = (lines: string) =>
  `services:\n  web:\n    image: app:1\n${lines
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n`
const refusal = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error instanceof Refusal ? { name: error.refusal, fields: error.fields?.map(({ field }) => field), message: error.message } : error
  }
}
const prepared = (text: string, values: Record<string, string> = {}, terms: Parameters<typeof prepare>[2] = tenant) =>
  prepare(text, new Map(Object.entries(values)), terms)
/** What a node gets, read again. */
const onNode = (text: string, values: Record<string, string> = {}, configs: Record<string, string> = {}) => {
  const terms = termsOf(
    who,
    [{ bp_id: null }],
    Object.keys(configs).map((path) => ({ path, config_id: 'c' })),
  )
  return JSON.parse(fileForNode(prepared(text, values, terms).root, { stack_id: 's', files: new Map(Object.entries(configs)) })) as {
    services: Record<string, Record<string, unknown>>
  }
}

describe('a compose file', () => {
  it('is told what is wrong with it, and where', () => {
    expect(errorsOf('services:\n  web:\n    image: [\n')).toMatchObject([{ line: expect.any(Number) as number }])
    expect(errorsOf('a: 1\n---\nb: 2\n')).toMatchObject([{ message: '只能有一个YAML文档' }])
    expect(errorsOf('')).toMatchObject([{ line: 1, column: 1 }])
    expect(errorsOf('- a\n')).toHaveLength(1)
    expect(errorsOf('services: {}\n')).toMatchObject([{ line: 1 }])
    expect(errorsOf('services:\n  web:\n    image: app:1\n    prots: ["80:80"]\n')).toMatchObject([{ line: 4, column: 5, message: '不支持“prots”' }])
    expect(errorsOf('services:\n  web:\n    build: .\n')).toEqual(expect.arrayContaining([expect.objectContaining({ line: 3 })]))
    expect(errorsOf(`a: &a [1]\nb: &b [${'*a,'.repeat(60)}]\nc: [${'*b,'.repeat(60)}]\n`)).not.toEqual([])
    expect(errorsOf('['.repeat(20_000))).not.toEqual([])
  })

  it('has each key of a mapping once, wherever it is', () => {
    expect(errorsOf('services:\n  web:\n    image: app:1\n    image: app:2\n')).toMatchObject([{ line: 4, column: 5, message: '键“image”重复' }])
    expect(errorsOf('services:\n  web: {image: app:1, environment: {1: a, "1": b}}\n')).toMatchObject([{ line: 2, message: '键“1”重复' }])
    expect(errorsOf('x-a: &a {image: app:1}\nx-b: &b {restart: always}\nservices:\n  web:\n    <<: *a\n    <<: *b\n')).toEqual([])
  })

  it('has no error hidden by warnings before it', () => {
    const ports = Array.from({ length: 60 }, (_, index) => `"${1_000 + index}"`).join(', ')
    const text = `services:\n  a: {image: app:1, ports: [${ports}]}\n  b: {image: app:1, privileged: true}\n`
    expect(errorsOf(text)).toMatchObject([{ line: 3, message: '“privileged”只有平台管理员可以使用' }])
  })

  it('has no more in it than is read in a moment', () => {
    const many = `services:\n  web:\n    image: app:1\n    environment: {${Array.from({ length: 40_000 }, (_, index) => `K${index}: `).join(',')}}\n`
    expect(errorsOf(many)).toMatchObject([{ line: 1, message: '内容过多：行和条目合计不能超过30000个' }])
    const doubled = `x-a: &a [${'1,'.repeat(1_000)}]\nx-b: [${'*a,'.repeat(90)}]\n${service('restart: always')}`
    expect(errorsOf(doubled)).toMatchObject([{ message: composeTexts.tooLong }])
  })

  it('names its services and variables', () => {
    const { problems, services, variables } = checkCompose(
      'services:\n  web:\n    image: ${IMAGE:-app}:${TAG-1}\n    ports: ["${PORT}:80"]\n    environment:\n      PRICE: 5$$\n      HOME: $HOME\n',
      tenant,
    )
    expect(problems).toEqual([])
    expect(services).toEqual(['web'])
    expect(variables).toEqual(['IMAGE', 'TAG', 'PORT', 'HOME'])
    expect(errorsOf(service('command: ${1}'))).toMatchObject([{ line: 4, message: '变量写法“${1}”不正确' }])
  })

  it('of a template tells what it does not declare, where that is needed', () => {
    const text = 'services:\n  web:\n    image: ${IMAGE:-app:${TAG:?a tag}}\n    command: echo ${MSG} $MSG ${WHO}\n'
    expect(checkCompose(text, tenant, new Set(['WHO'])).problems).toMatchObject([
      { line: 3, severity: 'warning', undeclared: 'IMAGE' },
      { line: 3, severity: 'error', undeclared: 'TAG' },
      { line: 4, severity: 'error', undeclared: 'MSG' },
    ])
    expect(checkCompose(text, tenant).problems).toEqual([])
  })

  it.each([
    ['a port that is none', 'ports: ["http:80"]'],
    ['a port twice', 'ports: ["80:80", "80:81"]'],
    ['a volume that is not defined', 'volumes: ["data:/data"]'],
    ['a mount of nothing', 'volumes: ["data"]'],
    ['a network that is not defined', 'networks: [back]'],
    ['a service that is not there', 'depends_on: [db]'],
    ['a restart that is none', 'restart: never'],
    ['replicas without end', 'deploy: { replicas: 101 }'],
    ['a name for many', 'container_name: one\nscale: 2'],
    ['a label of the platform', 'labels: { zhisuan.stack: x }'],
    ['a label of compose', 'labels: ["com.docker.compose.project=x"]'],
    ['a file of the node', 'env_file: /etc/shadow'],
  ])('is refused with %s', (_, lines) => {
    expect(errorsOf(service(lines))).not.toEqual([])
  })

  it('mounts directories of nodes by the rule that containers have', () => {
    const file = (source: string) => service(`volumes: ["${source}:/x"]`)
    const on = (source: string, nodes: Parameters<typeof termsOf>[1], kind = 2) =>
      checkCompose(file(source), termsOf({ kind, bp_id: 'o' }, nodes, [])).problems.map(({ severity, message }) => `${severity} ${message}`)
    const [own, others] = [{ bp_id: 'o' }, { bp_id: 'p' }]
    expect(on('/srv/data', [own])).toEqual([])
    expect(on('/srv/data', [own, others])).toEqual([expect.stringContaining('error 只能在自己组织的节点上')])
    expect(on('/srv/data', [{ bp_id: null }])).toEqual([expect.stringContaining('error 只能在自己组织的节点上')])
    for (const path of ['/etc', '/', '/var', '/var/run/docker.sock', '/var/lib/docker/volumes', '/./etc/passwd', '/srv/../etc', './data', '~/.ssh'])
      expect(on(path, [own]), path).toEqual([expect.stringContaining('error 不能挂载')])
    // Before it is known where: it depends.
    expect(on('/srv/data', null)).toEqual([expect.stringContaining('warning 挂载了节点目录')])
    expect(on('/etc', null)).toEqual([expect.stringContaining('error 不能挂载')])
    for (const nodes of [[others], null]) expect(on('/etc', nodes, 1)).toEqual([])
  })

  it.each([
    'privileged: true',
    'annotations: { a: b }',
    'network_mode: host',
    'network_mode: "container:other"',
    'pid: host',
    'ipc: host',
    'userns_mode: host',
    'cap_add: [SYS_ADMIN]',
    'devices: ["/dev/sda"]',
    'security_opt: ["apparmor:unconfined"]',
    'volumes: ["/:/host"]',
    'volumes: ["./data:/data"]',
    'volumes: ["~/.ssh:/data"]',
    'volumes: [{ type: bind, source: /var/run/docker.sock, target: /var/run/docker.sock }]',
    'volumes_from: ["container:other"]',
    'logging: { driver: syslog }',
  ])('of a tenant may not have %s; the platform may', (lines) => {
    expect(errorsOf(service(lines))).toHaveLength(1)
    expect(errorsOf(service(lines), judged([]))).toEqual([])
    // Not by a variable either, nor by a dollar that looks like one.
    const [key = '', value = ''] = lines.split(/: (.*)/s)
    if (/^["[{]/.test(value)) return
    expect(refusal(() => prepared(service(`${key}: \${X}`), { X: value }))).toMatchObject({ name: 'composeInvalid' })
  })

  it.each([
    'volumes:\n  data: { driver_opts: { type: none, o: bind, device: / } }\n',
    'volumes:\n  data: { external: true }\n',
    'volumes:\n  data: { name: of-others }\n',
    'networks:\n  out: { external: true }\n',
    'networks:\n  out: { driver: macvlan }\n',
  ])('of a tenant may not reach others by %j', (text) => {
    expect(errorsOf(`${service('restart: always')}${text}`)).toHaveLength(1)
    expect(errorsOf(`${service('restart: always')}${text}`, judged([]))).toEqual([])
  })

  it.each([
    'x-a: &a [*a]',
    'x-a: &a {b: *a}',
    'x-a: &a {b: [{c: *a}], <<: *a}',
    'services: &a {web: *a}',
    '&a {services: *a}',
    `x-a: ${'['.repeat(100)}${']'.repeat(100)}`,
    // Deeper than the parser itself can follow.
    `x-a: ${'['.repeat(20_000)}`,
    `x-a: ${'{a: '.repeat(9_000)}1${'}'.repeat(9_000)}`,
  ])('without end is refused: %s', (text) => {
    const file = `${text}\n${text.startsWith('x-') ? service('restart: always') : ''}`
    expect(errorsOf(file)).toMatchObject([{ message: fillText(composeTexts.tooDeep, { limit: 64 }) }])
    expect(refusal(() => prepared(file))).toMatchObject({ name: 'composeInvalid' })
  })

  it('however it is tangled, is refused or read, and nothing else', () => {
    const key = fc.constantFrom('services', 'web', 'image', 'environment', 'volumes', 'x-a', '<<')
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom('app:1', '"${V:-d}"', '1', 'null', '*a', '*b'),
        fc.array(tie('node'), { maxLength: 3 }).map((items) => `&a [${items.join(', ')}]`),
        fc.dictionary(key, tie('node'), { maxKeys: 3 }).map(
          (entries) =>
            `&b {${Object.entries(entries)
              .map((entry) => entry.join(': '))
              .join(', ')}}`,
        ),
      ),
    }))
    const nested = fc
      .record({ times: fc.integer({ min: 1, max: 3_000 }), open: fc.constantFrom('[', '{a: ', '- ') })
      .map(({ times, open }) => open.repeat(times))
    fc.assert(
      fc.property(fc.oneof(node, nested), (text) => {
        const { problems } = checkCompose(text, tenant)
        try {
          fileForNode(prepared(text).root, { stack_id: 's', files: new Map() })
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          return
        }
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('reads what merges and aliases bring', () => {
    const text = 'x-base: &base\n  image: app:1\n  privileged: true\nservices:\n  web:\n    <<: *base\n    restart: always\n'
    expect(errorsOf(text)).toMatchObject([{ message: '“privileged”只有平台管理员可以使用' }])
  })
})

describe('variables', () => {
  it('do not make a file too long for a node', () => {
    const lines = Array.from({ length: 70 }, (_, index) => `      V${index}: "\${V}"`).join('\n')
    expect(refusal(() => prepared(service(`environment:\n${lines.replaceAll('      V', '  V')}`), { V: 'x'.repeat(4_000) }))).toMatchObject({
      name: 'composeInvalid',
      message: expect.stringContaining('过长') as string,
    })
  })

  it('are filled in as the specification of compose says', () => {
    const environment = (text: string, values: Record<string, string> = {}) =>
      (prepared(service(`environment:\n  V: "${text}"`), values).root['services'] as { web: { environment: { V: unknown } } }).web.environment.V
    expect(environment('${A:-d}')).toBe('d')
    expect(environment('${A:-d}', { A: '' })).toBe('d')
    expect(environment('${A-d}', { A: '' })).toBe('')
    expect(environment('${A:-${B:-c}}')).toBe('c')
    expect(environment('${A:+yes}', { A: '1' })).toBe('yes')
    expect(environment('$A-$$A', { A: '1' })).toBe('1-$A')
    expect(refusal(() => environment('${A}'))).toMatchObject({ name: 'variableMissing', fields: ['values.A'] })
    expect(refusal(() => environment('${A:?needed}'))).toMatchObject({ name: 'composeInvalid', message: expect.stringContaining('needed') as string })
  })

  it('stay texts: a value cannot become a part of the file', () => {
    const { services } = onNode(service('environment:\n  V: ${V}\ncommand: ${C}\nscale: ${N}'), { V: 'x\n    privileged: true', C: '$HOME ${X}', N: '2' })
    expect(services['web']).toMatchObject({ environment: { V: 'x\n    privileged: true' }, command: '$$HOME $${X}', scale: 2 })
    expect(services['web']).not.toHaveProperty('privileged')
  })

  it('of a template have a type', () => {
    const of = (type: 'number' | 'boolean' | 'choice' | 'port' | 'text', wish: object = {}) => [
      { name: 'V', label: '', type, required: true, default: null, choices: ['a', 'b'], ...wish },
    ]
    expect(valuesOf(of('text', { default: 'd' }), {}).get('V')).toBe('d')
    expect(valuesOf(of('text', { required: false }), {}).get('V')).toBe('')
    expect(refusal(() => valuesOf(of('text'), {}))).toMatchObject({ name: 'variableMissing' })
    for (const [type, good, bad] of [
      ['number', '-1.5', 'x'],
      ['boolean', 'true', 'yes'],
      ['choice', 'b', 'c'],
      ['port', '65535', '65536'],
    ] as const) {
      expect(valuesOf(of(type), { V: good }).get('V')).toBe(good)
      expect(refusal(() => valuesOf(of(type), { V: bad }))).toMatchObject({ name: 'variableInvalid', fields: ['values.V'] })
    }
  })
})

describe('what a node gets', () => {
  it('has the labels of the stack, and mounts in one way of writing', () => {
    const { services } = onNode(
      'version: "3"\nx-note: 1\nvolumes:\n  data:\nservices:\n  web:\n    image: app:1\n    labels: ["a=b"]\n    volumes: ["data:/data:ro", "/cache"]\n',
    )
    expect(services['web']).toEqual({
      image: 'app:1',
      labels: { a: 'b', 'zhisuan.stack': 's' },
      volumes: [{ type: 'volume', source: 'data', target: '/data', read_only: true }, '/cache'],
    })
  })

  it('makes a service anew when the text of its config changes', () => {
    const text = service('volumes: ["./conf/app.conf:/etc/app.conf:ro"]\nenv_file: app.env')
    const [one, same, other] = ['a', 'a', 'b'].map((content) => onNode(text, {}, { 'conf/app.conf': content, 'app.env': '' }).services['web'])
    expect(one).toEqual(same)
    expect(one).not.toEqual(other)
    expect(one).toMatchObject({ volumes: [{ type: 'bind', source: './conf/app.conf', target: '/etc/app.conf', read_only: true }] })
    // Next to it lies nothing.
    expect(refusal(() => onNode(text, {}, { 'app.env': '' }))).toMatchObject({ name: 'composeInvalid' })
  })

  it('knows its services', () => {
    expect(
      prepared(
        'services:\n  a:\n    image: app:1\n    deploy: { replicas: 3 }\n  b:\n    image: app:2\n    ports: ["127.0.0.1:8080-8081:80-81/udp", 9000, { target: 5, published: "6" }]\n',
      ).services,
    ).toEqual([
      { name: 'a', image: 'app:1', replicas: 3, ports: [] },
      {
        name: 'b',
        image: 'app:2',
        replicas: 1,
        ports: [
          { container_port: 80, host_port: 8080, protocol: 'udp' },
          { container_port: 81, host_port: 8081, protocol: 'udp' },
          { container_port: 9000, host_port: null, protocol: 'tcp' },
          { container_port: 5, host_port: 6, protocol: 'tcp' },
        ],
      },
    ])
  })
})
