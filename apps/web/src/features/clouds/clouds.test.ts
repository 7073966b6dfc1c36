import '@zhisuan/contract/validation'
import { cloudCan, cloudStatuses, parseCloudLabel } from '@zhisuan/contract/cmp/cloud'
import { describe, expect, it } from 'vitest'
import { textsOf } from '../../i18n.ts'
import shell from '../../locales/zh/shell.ts'
import { capacitySeries } from './capacitySeries.ts'
import { connectionOf, firstValues } from './cloudForm.ts'
import { cloudMoves, ratioOf, servicesOutcome, serviceTone, shareOf, whyNotCloud, type CloudMove } from './cloudRules.ts'
import { newLabel, readLabel, writeLabel, wrongWith } from './labels.ts'

describe('moving a cloud', () => {
  it('is allowed exactly where the contract allows it, and says why not', () => {
    const t = textsOf(['clouds', 'shell'])
    // Object.keys loses the key type.
    for (const move of Object.keys(cloudMoves) as CloudMove[]) {
      for (const status of cloudStatuses) {
        const reason = whyNotCloud(t, move, { status })
        if ((cloudCan[move] as readonly string[]).includes(status)) expect(reason).toBeNull()
        else expect(reason).toContain(shell.cloud.status[status])
      }
    }
  })
})

describe('labels', () => {
  it('are written as the contract reads them, without what is empty', () => {
    const text = writeLabel({ label: '生产', textColor: '#fff', bgColor: '', imgUrl: ' ' })
    expect(text).toBe('{"label":"生产","textColor":"#fff"}')
    expect(parseCloudLabel(text)).toEqual({ label: '生产', textColor: '#fff' })
    expect(readLabel(text)).toEqual({ label: '生产', textColor: '#fff' })
  })
  it('can be edited while they are not finished', () => {
    const text = writeLabel(newLabel)
    expect(readLabel(text)).toEqual(newLabel)
    expect(wrongWith(text)?.field).toBe('label')
    expect(wrongWith(writeLabel({ ...newLabel, label: 'x', imgUrl: 'javascript:1' }))?.field).toBe('imgUrl')
    expect(wrongWith(writeLabel({ ...newLabel, label: 'x' }))).toBeNull()
  })
  it('that are none are not lost', () => {
    expect(readLabel('plain text')).toBeNull()
    expect(readLabel('[1]')).toBeNull()
    expect(wrongWith('plain text')).not.toBeNull()
  })
})

describe('shareOf', () => {
  it('is between 0 and 1', () => {
    expect(shareOf({ used: 1, total: 4 })).toBe(0.25)
    expect(shareOf({ used: 9, total: 4 })).toBe(1)
    expect(shareOf({ used: 0, total: 0 })).toBeNull()
  })
})

describe('a connection', () => {
  const values = {
    ...firstValues(null, null),
    type: 'openstack-password' as const,
    auth_url: ' https://cloud:5000/v3 ',
    username: 'admin',
    password: ' a b ',
    project: 'admin',
    region: ' ',
    url: 'https://lxd:8443',
  }
  it('holds what belongs to its kind, and nothing empty; a secret as it was typed', () => {
    expect(connectionOf(values)).toEqual({
      type: 'openstack-password',
      auth_url: 'https://cloud:5000/v3',
      interface: 'public',
      username: 'admin',
      password: ' a b ',
      user_domain: 'Default',
      project: 'admin',
      project_domain: 'Default',
    })
    expect(connectionOf({ ...values, type: 'openstack-credential', credential_id: 'id', credential_secret: '', region: 'one' })).toEqual({
      type: 'openstack-credential',
      auth_url: 'https://cloud:5000/v3',
      interface: 'public',
      region: 'one',
      credential_id: 'id',
    })
  })
  it('begins with what is known of a registered one, without its secret', () => {
    const settings = {
      type: 'openstack-password' as const,
      auth_url: 'https://cloud',
      interface: 'internal' as const,
      username: 'u',
      user_domain: 'd',
      project: 'p',
      project_domain: 'd',
    }
    expect(connectionOf(firstValues(null, settings))).toEqual(settings)
  })
})

describe('the services of a cloud', () => {
  const service = (state: 'works' | 'missing' | 'failed', required: boolean) => ({ state, required })
  it('let it be registered, with a warning or without, or not', () => {
    expect(servicesOutcome([service('works', true), service('works', false)])).toBe('success')
    expect(servicesOutcome([service('works', true), service('missing', false)])).toBe('warning')
    expect(servicesOutcome([service('failed', true), service('failed', false)])).toBe('error')
  })
  it('look as bad as they are', () => {
    expect(
      [service('works', true), service('missing', false), service('failed', false), service('missing', true), service('failed', true)].map(serviceTone),
    ).toEqual(['good', 'rest', 'warning', 'bad', 'bad'])
  })
})

describe('what may be promised', () => {
  it('is told where it is more than there is', () => {
    expect(ratioOf({ total: 384, physical: 96 })).toBe(4)
    expect(ratioOf({ total: 90, physical: 96 })).toBeNull()
    expect(ratioOf({ total: 1, physical: 0 })).toBeNull()
  })
})

describe('the history of a capacity', () => {
  it('is broken where the cloud did not answer', () => {
    const at = (minutes: number) => ({
      at: new Date(minutes * 60_000).toISOString(),
      cpu_cores: { total: 8, used: minutes },
      memory_bytes: { total: 1, used: 0 },
      disk_bytes: { total: 1, used: 0 },
      nodes: 1,
      instances: 2,
    })
    const { cpu, instances } = capacitySeries([at(0), at(5), at(30)], 'day', { used: '已分配', total: '可分配', instances: '实例' })
    expect(cpu.map(({ name }) => name)).toEqual(['已分配', '可分配'])
    expect(cpu[0]?.points.map(([, value]) => value)).toEqual([0, 5, null, 30])
    expect(instances[0]?.points.map(([, value]) => value)).toEqual([2, 2, null, 2])
  })
})
