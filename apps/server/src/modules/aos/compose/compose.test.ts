import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { readEnvFile } from './compose.env.ts'
import { fileForNode } from './compose.node.ts'
import { checkCompose, judged, prepare, termsOf, valuesOf } from './compose.ts'

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
  return JSON.parse(
    fileForNode(prepared(text, values, terms).root, { stack_id: 's', files: new Map(Object.entries(configs)), values: new Map(Object.entries(values)) }),
  ) as {
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
    const doubled = (times: number) => `x-a: &a [${'1,'.repeat(1_000)}]\nx-b: [${'*a,'.repeat(times)}]\n${service('restart: always')}`
    expect(errorsOf(doubled(45))).toEqual([])
    expect(errorsOf(doubled(90))).toMatchObject([{ line: 2, message: '锚点“a”展开后内容过多：全文不能超过50000个值' }])
    const laughs = 'abcdefgh'.split('').map((name, index, all) => `x-${name}: &${name} [${`${index === 0 ? 'lol' : `*${all[index - 1] ?? ''}`},`.repeat(10)}]`)
    expect(errorsOf(`${laughs.join('\n')}\n${service('restart: always')}`)).toMatchObject([{ message: expect.stringContaining('展开后内容过多') as string }])
    expect(errorsOf(`x-a: &a ${'x'.repeat(100_000)}\nx-b: [${'*a,'.repeat(20)}]\n${service('restart: always')}`)).toMatchObject([{ line: 2 }])
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
    expect(errorsOf(file)).toMatchObject([{ message: text.includes('*a') ? '锚点“a”引用了自身' : '嵌套过深：不能超过64层' }])
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
          fileForNode(prepared(text).root, { stack_id: 's', files: new Map(), values: new Map() })
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

describe('a value', () => {
  const environmentOf = (text: string, values: Record<string, string> = {}, configs: Record<string, string> = {}) =>
    onNode(text, values, configs).services['web']?.['environment']

  it('is the text that was written, wherever a text is wanted', () => {
    const { services } = onNode(
      service(
        `environment: { GUILD_ID: 1147053346671102335, UMASK: 022, PIN: 0042, VERSION: 1.10, KEY: true, HEX: 0x1F, BIG: 1e3, NO: no, OFF: off, TIME: 12:30, scale: "\${N:-007}", pids: "\${N:-1.10}", init: "\${B:-true}" }
labels: { version: 1.10, on: True, id: 1147053346671102335 }
command: [serve, 0600, 1.0, true]
entrypoint: /run 1
user: 0100
hostname: 007
healthcheck: { test: [CMD, check, 010], retries: "3" }
logging: { driver: json-file, options: { max-file: 3, compress: true } }
ulimits: { nofile: "1024" }
cpus: "0.50"
init: "\${B:-true}"`,
      ),
    )
    expect(services['web']).toMatchObject({
      environment: {
        GUILD_ID: '1147053346671102335',
        UMASK: '022',
        PIN: '0042',
        VERSION: '1.10',
        KEY: 'true',
        HEX: '0x1F',
        BIG: '1e3',
        NO: 'no',
        OFF: 'off',
        TIME: '12:30',
        scale: '007',
        pids: '1.10',
        init: 'true',
      },
      labels: { version: '1.10', on: 'True', id: '1147053346671102335' },
      command: ['serve', '0600', '1.0', 'true'],
      entrypoint: '/run 1',
      user: '0100',
      hostname: '007',
      healthcheck: { test: ['CMD', 'check', '010'], retries: 3 },
      logging: { options: { 'max-file': '3', compress: 'true' } },
      ulimits: { nofile: 1_024 },
      cpus: 0.5,
      init: true,
    })
  })

  it('is that too where an anchor or a merge brings it', () => {
    const text =
      'x-env: &env { PIN: 0042 }\nx-pin: &pin 0042\nservices:\n  web:\n    image: app:1\n    environment: { <<: *env, OTHER: *pin, PIN2: 1.10 }\n    mem_limit: 512\n'
    expect(environmentOf(text)).toEqual({ PIN: '0042', OTHER: '0042', PIN2: '1.10' })
  })

  it('of a variable that is only named is what was given, and never that of the agent', () => {
    for (const written of ['environment: [VAR, HOME, PATH, LANG, "A=1"]', 'environment: { VAR: , HOME: ~, PATH: , LANG: , A: 1 }']) {
      expect(environmentOf(service(written), { VAR: 'given $x' })).toEqual({ VAR: 'given $$x', A: '1' })
      expect(checkCompose(service(written), tenant)).toMatchObject({ problems: [], variables: ['VAR', 'HOME', 'PATH', 'LANG'] })
    }
    expect(checkCompose(service('environment: [VAR]'), tenant, new Set()).problems).toMatchObject([{ severity: 'warning', undeclared: 'VAR' }])
  })

  it('comes from files of variables, in both ways of naming them', () => {
    const env = 'A=1\n# no\n\nexport B="x ${A} \\"q\\"\\n"\nC=\'${A}\'\nD=p#w $HOME # said\nE=${HOME}\nF\nG: g\nH=\nI="two\nlines"\nweb.url=x\r\n'
    const read = { A: '1', B: 'x 1 "q"\n', C: '$${A}', D: 'p#w $$HOME', E: '', F: 'given', G: 'g', H: '', I: 'two\nlines', 'web.url': 'x' }
    for (const written of [
      'env_file: .env',
      'env_file: [./.env]',
      'env_file: [{ path: .env, required: true }]',
      'env_file: [.env, { path: gone.env, required: false }]',
    ])
      expect(environmentOf(service(written), { F: 'given' }, { '.env': env }), written).toEqual(read)
    expect(environmentOf(service('env_file: .env\nenvironment: { A: 2 }'), {}, { '.env': 'A=1\n' })).toEqual({ A: '2' })
    expect(environmentOf(service('env_file: [{ path: .env, format: raw }]'), {}, { '.env': 'A="1" # x\n' })).toEqual({ A: '"1" # x' })
    expect(readEnvFile('A=1\nwhat is this\n', new Map()).wrongLine).toBe(2)
    expect(onNode(service('env_file: .env'), {}, { '.env': 'A=1' }).services['web']).not.toHaveProperty('env_file')
    expect(errorsOf(service('env_file: gone.env'))).toMatchObject([{ message: '“gone.env”不是该应用的配置文件' }])
  })
})

describe('what the Compose of a node does not know', () => {
  it.each([
    ['uts: host', '节点上的docker-compose 1.29不支持“uts”'],
    ['annotations: { a: b }', '节点上的docker-compose 1.29不支持“annotations”'],
    ['pull_policy: daily', '节点上的docker-compose 1.29不支持“pull_policy”的值“daily”'],
    ['depends_on: { web2: { condition: service_finished } }', '节点上的docker-compose 1.29不支持“condition”的值“service_finished”'],
    ['volumes: [{ type: volume, target: /x, volume: { subpath: a } }]', '节点上的docker-compose 1.29不支持“subpath”'],
    ['networks: { default: { mac_address: "02:00:00:00:00:01" } }', '节点上的docker-compose 1.29不支持“mac_address”'],
    ['healthcheck: { interval: 10 seconds }', '“interval”应为时长，例如1m30s'],
    ['healthcheck: { test: [curl, x] }', 'test为列表时，第一项须是NONE、CMD或CMD-SHELL'],
    ['mem_limit: much', '“mem_limit”应为容量，例如512m'],
    ['pids_limit: many', '“pids_limit”应为数字'],
    ['init: maybe', '“init”应为true或false'],
    ['command: { a: b }', '“command”应为列表'],
    ['logging: { drivr: x }', '不支持“drivr”'],
    ['network_mode: bridge\nnetworks: [default]', 'network_mode和networks不能同时使用'],
    ['depends_on: [web]', '服务之间循环依赖：web → web'],
    ['volumes: ["/x", "/x/"]', '“/x”被挂载了两次'],
    ['ulimits: { nofile: { soft: 2, hard: 1 } }', '“nofile”的soft不能大于hard'],
    ['expose: [web]', '“web”不是端口，例如8080或8080/udp'],
    ['ports: ["80:80/sctp"]', '端口“80:80/sctp”的协议不受支持，只能是tcp或udp'],
    ['ports: ["1000-1100:1000-1100"]', '端口“1000-1100:1000-1100”的范围过大：不能超过100个端口'],
    ['command:\u00A0x', '第13列是全角或看不见的字符（U+00A0），请改为普通空格或半角符号'],
    ['\u3000command: x', '第5列是全角或看不见的字符（U+3000），请改为普通空格或半角符号'],
    ['command：x', '第12列是全角或看不见的字符（U+FF1A），请改为普通空格或半角符号'],
  ])('is told: %s', (lines, message) => {
    expect(errorsOf(`${service(lines)}  web2: { image: app:2 }\n`).map((problem) => problem.message)).toContain(message)
  })

  it('and means nothing else without it, is left out and told', () => {
    const { problems } = checkCompose(
      service('healthcheck: { test: check, start_interval: 1s }\ndepends_on: { db: { condition: service_healthy, restart: true } }') +
        '  db: { image: db:1 }\n',
      tenant,
    )
    expect(problems.map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', '节点上的docker-compose 1.29不支持“start_interval”，部署时将忽略'],
      ['warning', '节点上的docker-compose 1.29不支持“restart”，部署时将忽略'],
    ])
  })

  it('is written as it knows it', () => {
    const { services } = onNode(
      `${service('pull_policy: missing\ndeploy: { resources: { limits: { pids: 100, memory: 64m } } }\nvolumes: [{ type: tmpfs, target: /t, tmpfs: { size: 64m, mode: 0755 } }]\nports: [{ target: 53, published: 53, protocol: udp, host_ip: "::1" }, 80]\ndepends_on: { db: { condition: service_healthy, restart: true }, gone: { condition: service_started, required: false } }\nextra_hosts: ["a=192.0.2.1"]')}  db: { image: db:1 }\n`,
    )
    expect(services['web']).toEqual({
      image: 'app:1',
      labels: { 'zhisuan.stack': 's' },
      pull_policy: 'if_not_present',
      pids_limit: 100,
      deploy: { resources: { limits: { memory: '64m' } } },
      tmpfs: ['/t:size=64m,mode=755'],
      ports: ['[::1]:53:53/udp', '80'],
      depends_on: { db: { condition: 'service_healthy' } },
      extra_hosts: ['a:192.0.2.1'],
    })
  })
})

describe('an honest file', () => {
  it('with three levels of merges in 25 services is read', () => {
    const levels =
      'x-a: &a { restart: always, labels: { a: 1 } }\nx-b: &b { <<: *a, init: true }\nx-c: &c { <<: [*b], logging: { options: { max-file: 3 } } }\n'
    const names = Array.from({ length: 25 }, (_, index) => `s${index}`)
    const file = `${levels}services:\n${names.map((name) => `  ${name}: { <<: *c, image: app:1, environment: &e${name} { A: 1 }, labels: { <<: *e${name} } }\n`).join('')}`
    expect(errorsOf(file)).toEqual([])
    const { services } = onNode(file)
    expect(services['s24']).toMatchObject({ restart: 'always', init: true, labels: { A: '1' }, logging: { options: { 'max-file': '3' } } })
  })

  it('has one port on two addresses', () => {
    expect(errorsOf(service('ports: ["127.0.0.1:53:53/udp", "192.0.2.2:53:53/udp", "127.0.0.1:53:53/tcp", "[::1]:53:53/udp"]'))).toEqual([])
    for (const other of ['53:54/udp', '0.0.0.0:53:54/udp', '127.0.0.1:53:54/udp'])
      expect(errorsOf(service(`ports: ["127.0.0.1:53:53/udp", "${other}"]`)), other).toMatchObject([{ message: '节点端口53被映射了两次' }])
    expect(errorsOf(service('ports: ["[::1]:53:53", "[0:0::1]:53:54"]'))).toMatchObject([{ message: '节点端口53被映射了两次' }])
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
    ).toMatchObject([
      { name: 'a', image: 'app:1', replicas: 3, ports: [] },
      {
        name: 'b',
        image: 'app:2',
        replicas: 1,
        ports: [
          { container_port: 80, host_port: 8080, protocol: 'udp', address: '127.0.0.1' },
          { container_port: 81, host_port: 8081, protocol: 'udp', address: '127.0.0.1' },
          { container_port: 9000, host_port: null, protocol: 'tcp' },
          { container_port: 5, host_port: 6, protocol: 'tcp' },
        ],
      },
    ])
  })
})
