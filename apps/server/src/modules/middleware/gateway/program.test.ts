import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keptWanted } from '@zhisuan/contract/agent/kept'
import { servicePorts, type PortSpec } from '@zhisuan/contract/middleware/gateway'
import { describe, expect, it } from 'vitest'
import { configOf, wantedGateway } from './program.ts'

const haproxy = '/usr/sbin/haproxy'
const shape = { control_port: 19_700, connections_most: 1_000, drain_minutes: 30 }
const [first, second, third] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000003'] as const
const spec = (more: Partial<PortSpec> = {}): PortSpec => ({
  protocol: 'http',
  port: 8_080,
  balance: 'leastconn',
  sticky: true,
  check: { kind: 'http', path: '/healthz?x=1', interval_seconds: 2, timeout_seconds: 2, rise: 3, fall: 3 },
  idle_seconds: 60,
  connections_most: 100,
  allowed: ['10.0.0.0/8', '2001:db8::/32'],
  targets: [
    { id: first, address: '10.0.0.1', port: 80, weight: 100, backup: false, enabled: true },
    { id: second, address: '2001:db8::1', port: 80, weight: 50, backup: true, enabled: false },
    { id: third, address: 'shop.internal', port: 80, weight: 0, backup: false, enabled: true },
  ],
  ...more,
})

describe('the configuration of a gateway', () => {
  it.skipIf(!existsSync(haproxy) && process.env['CI'] === undefined)('is understood by HAProxy, whatever its ports are', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zhisuan-haproxy-'))
    try {
      const every = [
        spec({ allowed: Array.from({ length: 100 }, (_, index) => `10.0.${index}.0/24`) }),
        spec({ protocol: 'tcp', port: 9_000, sticky: false, check: { ...spec().check, kind: 'none' }, balance: 'source', allowed: [], connections_most: null }),
      ]
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(
        file,
        configOf(
          shape,
          'secret',
          new Map([
            [first, every[0] ?? spec()],
            [second, every[1] ?? spec()],
          ]),
        ),
      )
      const { status, stderr } = spawnSync(haproxy, ['-c', '-q', '-f', file], { encoding: 'utf8' })
      expect([status, stderr.replaceAll(/^\[NOTICE\].*\n/gm, '')]).toEqual([0, ''])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('gives what is not enabled nothing new, and is well only where this very one is served', () => {
    const text = configOf(shape, 'secret', new Map([[first, spec()]]))
    expect(text).toMatch(/target-\S+1 10\.0\.0\.1:80 weight 100/)
    expect(text).toMatch(/target-\S+2 \[2001:db8::1\]:80 weight 0 .*backup/)
    const [one, other] = [spec(), spec({ idle_seconds: 61 })].map((ports) => {
      const { health } = keptWanted.parse(wantedGateway(shape, 'secret', new Map([[first, ports]])))
      return health?.kind === 'http' ? health.path : ''
    })
    expect(one).not.toBe(other)
    expect(text).toContain(`monitor-uri ${one}`)
  })

  it.each([
    ['an address with a line of its own', { targets: [{ address: '10.0.0.1\n    server x', port: 80 }] }],
    ['an address with an option', { targets: [{ address: '10.0.0.1 check', port: 80 }] }],
    ['a path with a line of its own', { check: { kind: 'http', path: '/\n    acl x' } }],
    ['a path that leaves its word', { check: { kind: 'http', path: '/a b' } }],
    ['a range that is none', { allowed: ['10.0.0.0/8 or all'] }],
    ['no target', { targets: [] }],
    ['a cookie for TCP', { protocol: 'tcp', sticky: true }],
    ['a port that is none', { port: 70_000 }],
  ])('is never made of %s', (_, more) => {
    const body = { gateway_id: first, name: 'x', protocol: 'http', port: 80, targets: [{ address: '10.0.0.1', port: 80 }], ...more }
    expect(servicePorts.create.body.safeParse(body).success).toBe(false)
  })
})
