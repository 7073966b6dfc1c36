import { keptWanted } from '@zhisuan/contract/agent/kept'
import { serviceTypes } from '@zhisuan/contract/middleware/service'
import { describe, expect, it } from 'vitest'
import { wantedService, type ServiceShape } from './program.ts'
import { readInfo } from './redis.ts'

const password = `a'b"c\\d$e#f%g;H1`
const shape: ServiceShape = { type: 'mysql', port: 13_306, listens: 'all', memory_mb: 256, connections_most: 57 }

describe('what a node is to keep of a database or a cache', () => {
  it.each(serviceTypes)('%s has its password in a secret file, and in no argument', (type) => {
    const wanted = keptWanted.parse(wantedService({ ...shape, type }, password))
    const { files, prepare, data } = wanted
    expect(JSON.stringify([wanted.arguments, prepare, wanted.environment])).not.toContain(password)
    const [secret, ...others] = files
    expect(secret).toMatchObject({ secret: true, mode: 0o600 })
    expect(others.map(({ text }) => text).join('')).not.toContain(password)
    // Its first start fills a folder of its own, from that file.
    expect(prepare?.arguments.join(' ')).toContain(`\${KEPT_FILES}/${secret?.path}`)
    expect(data).toEqual({ path: null, adopt: false })
  })

  it.each(serviceTypes)('%s listens where it is to, with so many connections and so much memory', (type) => {
    const everywhere = keptWanted.parse(wantedService({ ...shape, type }, password))
    const loopback = keptWanted.parse(wantedService({ ...shape, type, listens: 'loopback' }, password))
    expect([everywhere.ports, loopback.ports]).toMatchObject([[{ port: 13_306, address: '0.0.0.0' }], [{ port: 13_306, address: '127.0.0.1' }]])
    expect(loopback.arguments.join(' ')).toContain('127.0.0.1')
    const words = everywhere.arguments.join(' ')
    for (const part of ['0.0.0.0', '13306', '57', '256']) expect(words).toContain(part)
  })

  it('quotes the password as SQL of MariaDB reads it', () => {
    expect(wantedService(shape, password).files?.[0]?.text).toContain(`IDENTIFIED BY 'a''b"c\\\\d$e#f%g;H1'`)
  })

  it('is the same however its password was changed, but for the file that it was prepared with', () => {
    const { files: _before, ...before } = wantedService(shape, password)
    const { files: _after, ...after } = wantedService(shape, 'another-one')
    expect(after).toEqual(before)
  })
})

it('reads what Redis tells of itself', () => {
  const info = readInfo('# Server\r\nredis_version:7.0.15\r\nconfig_file:\r\n\r\n# Clients\r\nconnected_clients:3\r\n')
  expect([info.get('redis_version'), info.get('connected_clients'), info.get('config_file'), info.has('# Server')]).toEqual(['7.0.15', '3', '', false])
})
