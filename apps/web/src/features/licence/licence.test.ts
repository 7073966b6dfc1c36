import { constants } from '@zhisuan/contract/constants'
import type { Licence } from '@zhisuan/contract/sys/sys'
import { describe, expect, it } from 'vitest'
import { changesOf, concernsOf, readLicenceFile, type LicencePayload } from './licenceFile.ts'
import { allowanceOf, licenceState } from '../../kit/licenceState.ts'

const day = 86_400_000
const end = Date.UTC(2027, 1, 19, 3, 30)
const start = end - 90 * day
const at = (now: number) => licenceState({ start_timestamp: start, end_timestamp: end }, now)

describe('licenceState', () => {
  it.each([
    ['90 days before', end - 90 * day, 'valid', 90],
    ['exactly 60 days before, which is not yet less', end - constants.licenceWarningMs, 'valid', 60],
    ['one millisecond later', end - constants.licenceWarningMs + 1, 'ending', 60],
    ['one day before', end - day, 'ending', 1],
    ['one millisecond before', end - 1, 'ending', 1],
    ['at the end itself, which is not before now', end, 'ending', 0],
    ['one millisecond after', end + 1, 'expired', 0],
    ['a day after', end + day, 'expired', 1],
  ] as const)('%s', (_, now, kind, days) => expect(at(now)).toMatchObject({ kind, days }))

  it('says how much of its time is gone, within 0 and 1', () => {
    expect(at(start).elapsed).toBe(0)
    expect(at(start + 45 * day).elapsed).toBe(0.5)
    expect(at(start - day).elapsed).toBe(0)
    expect(at(end + day).elapsed).toBe(1)
    expect(licenceState({ start_timestamp: end, end_timestamp: end }, end).elapsed).toBe(1)
  })
})

describe('allowanceOf', () => {
  it.each([
    [0, 10, 'fine', 0],
    [7, 10, 'fine', 0.7],
    [8, 10, 'near', 0.8],
    [10, 10, 'full', 1],
    [12, 10, 'over', 1],
    [5, null, 'fine', null],
  ] as const)('%d of %s', (used, allowed, level, share) => expect(allowanceOf(used, allowed)).toEqual({ used, allowed, level, share }))
})

const now = end - 30 * day
const licence: Licence = {
  kind: 'evaluation',
  id: 'evaluation',
  customer: '',
  start_timestamp: start,
  end_timestamp: end,
  nodes: 10,
  cores: 1024,
  nodes_used: 3,
  cores_used: 96,
  installation_id: '01938f00-0000-7000-8000-000000000001',
}
const next: LicencePayload = {
  id: 'L-1',
  customer: '某单位',
  installation_id: licence.installation_id,
  start_timestamp: now - day,
  end_timestamp: end + 365 * day,
  nodes: null,
  cores: 64,
}
const fileOf = (content: unknown): string => {
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(content))))
  return `-----BEGIN ZHISUAN LICENCE-----\n${`${base64}.c2lnbmF0dXJl`.replace(/(.{76})/g, '$1\n')}\n-----END ZHISUAN LICENCE-----\n`
}

describe('readLicenceFile', () => {
  it('reads what the server would, Chinese names and broken lines too', () => {
    expect(readLicenceFile(`\n ${fileOf(next)} \n`)).toEqual(next)
  })

  it.each([
    ['nothing', ''],
    ['without its first line', fileOf(next).split('\n').slice(1).join('\n')],
    ['without its last line', fileOf(next).replace(/-----END.*$/m, '')],
    ['without a signature', fileOf(next).replace('.c2lnbmF0dXJl', '.')],
    ['not base64', fileOf(next).replace(/^e/m, '*')],
    ['another content', fileOf({ id: 1 })],
  ])('knows %s for none', (_, text) => expect(readLicenceFile(text)).toBeNull())
})

describe('changesOf', () => {
  it('names each difference, and which of them are less', () => {
    const lines = Object.fromEntries(changesOf(licence, next).map((line) => [line.key, line]))
    expect(lines['nodes']).toMatchObject({ before: 10, after: null, changed: true, less: false })
    expect(lines['cores']).toMatchObject({ before: 1024, after: 64, changed: true, less: true })
    expect(lines['end']).toMatchObject({ changed: true, less: false })
    expect(lines['id']).toMatchObject({ before: null, after: 'L-1' })
    expect(changesOf({ ...licence, nodes: null }, { ...next, nodes: 5 })[4]?.less).toBe(true)
  })
})

describe('concernsOf', () => {
  it('has none for one that fits', () => expect(concernsOf(licence, { ...next, cores: 96 }, now)).toEqual([]))
  it('has none for one that fits every installation', () => expect(concernsOf(licence, { ...next, installation_id: null, cores: null }, now)).toEqual([]))
  it.each([
    ['otherInstallation', { installation_id: 'another' }],
    ['expired', { end_timestamp: now - 1 }],
    ['notYet', { start_timestamp: now + 1 }],
    ['coresExceeded', { cores: 95 }],
    ['nodesExceeded', { nodes: 2 }],
  ] as const)('%s', (concern, change) => expect(concernsOf(licence, { ...next, cores: null, ...change }, now)).toEqual([concern]))
})
