import { describe, expect, it } from 'vitest'
import { accessOf, bodyOf, corrections, diskFor, privateNetwork, type Offers } from './vmForm.ts'

const types = (vm: boolean, container: boolean) => ({ vm: { available: vm, reason: null }, container: { available: container, reason: null } })
const nothingKnown: Offers = { clouds: undefined, preferredCloud: undefined, images: undefined, flavors: undefined, networks: undefined }
const clouds = [
  { cloud_id: 'a', instance_types: types(true, true) },
  { cloud_id: 'b', instance_types: types(false, true) },
]

describe('corrections', () => {
  it('change nothing before anything is known', () => {
    expect(corrections({ image_fingerprint: 'x', network: 'n' }, nothingKnown)).toEqual({})
  })
  it('begin with the chosen cloud, else the first', () => {
    expect(corrections({}, { ...nothingKnown, clouds, preferredCloud: 'b' })).toEqual({ cloud_id: 'b' })
    expect(corrections({ cloud_id: 'gone' }, { ...nothingKnown, clouds })).toEqual({ cloud_id: 'a' })
  })
  it('take a type that the cloud can run', () => {
    expect(corrections({ cloud_id: 'b', type: 'vm' }, { ...nothingKnown, clouds })).toEqual({ type: 'container' })
    expect(corrections({ cloud_id: 'a' }, { ...nothingKnown, clouds })).toEqual({ type: 'vm' })
    expect(corrections({ cloud_id: 'a', type: 'container' }, { ...nothingKnown, clouds })).toEqual({})
  })
  it('choose where there is but one, and forget what is gone', () => {
    expect(corrections({}, { ...nothingKnown, images: [{ fingerprint: 'x' }] })).toEqual({ image_fingerprint: 'x' })
    expect(corrections({ image_fingerprint: 'gone' }, { ...nothingKnown, images: [{ fingerprint: 'x' }, { fingerprint: 'y' }] })).toEqual({
      image_fingerprint: undefined,
    })
    expect(corrections({ image_fingerprint: 'y' }, { ...nothingKnown, images: [{ fingerprint: 'x' }, { fingerprint: 'y' }] })).toEqual({})
    expect(corrections({ flavor_id: 'gone' }, { ...nothingKnown, flavors: [] })).toEqual({ flavor_id: undefined })
  })
  it('give the disk that the flavor wants, and leave one that was typed', () => {
    const flavors = [
      { id: 'f', disk_bytes: 10 },
      { id: 'g', disk_bytes: 20 },
    ]
    expect(corrections({ flavor_id: 'f' }, { ...nothingKnown, flavors })).toEqual({ disk_bytes: 10 })
    expect(corrections({ flavor_id: 'g', disk_bytes: 12 }, { ...nothingKnown, flavors })).toEqual({})
  })
  it('choose the first network where the former is gone', () => {
    expect(corrections({ network: 'gone' }, { ...nothingKnown, networks: [{ name: 'n1' }, { name: 'n2' }] })).toEqual({ network: 'n1' })
    expect(corrections({ network: 'gone' }, { ...nothingKnown, networks: [] })).toEqual({ network: undefined })
    expect(corrections({}, { ...nothingKnown, networks: [] })).toEqual({})
  })
  it('come to rest', () => {
    const offers: Offers = { clouds, preferredCloud: 'b', images: [{ fingerprint: 'x' }], flavors: [{ id: 'f', disk_bytes: 1 }], networks: [{ name: 'n' }] }
    let typed = {}
    for (let round = 0; round < 4; round += 1) typed = { ...typed, ...corrections(typed, offers) }
    expect(corrections(typed, offers)).toEqual({})
    expect(typed).toEqual({ cloud_id: 'b', type: 'container', image_fingerprint: 'x', flavor_id: 'f', disk_bytes: 1, network: 'n' })
  })
})

describe('accessOf', () => {
  it('sends what was typed, and user data only where the image reads it', () => {
    expect(accessOf({ password: '', ssh_public_key: ' ', user_data: '#!/bin/sh' }, true)).toEqual({ user_data: '#!/bin/sh' })
    expect(accessOf({ password: 'x', user_data: '#!/bin/sh' }, false)).toEqual({ password: 'x' })
  })
})

describe('bodyOf', () => {
  const values = {
    cloud_id: 'c',
    type: 'container' as const,
    image_fingerprint: 'x',
    flavor_id: 'f',
    disk_bytes: 1,
    name: 'n',
    description: '',
    count: 1,
    security_group_ids: ['g'],
  }
  it('sends a network of the cloud’s own by its name, without groups', () => {
    expect(bodyOf({ ...values, network: 'lxdbr0' }, false)).toEqual({
      cloud_id: 'c',
      type: 'container',
      image_fingerprint: 'x',
      flavor_id: 'f',
      disk_bytes: 1,
      name: 'n',
      description: '',
      count: 1,
      network: 'lxdbr0',
    })
  })
  it('sends a private one by its id, with the groups', () => {
    const body = bodyOf({ ...values, network: privateNetwork('v'), key_pair_ids: ['k'] }, false)
    expect(body).toMatchObject({ vpc_id: 'v', security_group_ids: ['g'], key_pair_ids: ['k'] })
    expect(body).not.toHaveProperty('network')
  })
})

describe('diskFor', () => {
  it('follows the flavor, forwards and back, unless the person typed more', () => {
    expect(diskFor({ disk_bytes: 160 }, null)).toBe(160)
    expect(diskFor({ disk_bytes: 20 }, null)).toBe(20)
    expect(diskFor({ disk_bytes: 160 }, 100)).toBe(160)
    expect(diskFor({ disk_bytes: 20 }, 100)).toBe(100)
  })
  it('is never smaller than what is there', () => {
    expect(diskFor({ disk_bytes: 160 }, null, 40)).toBe(160)
    expect(diskFor({ disk_bytes: 20 }, null, 40)).toBe(40)
    expect(diskFor(undefined, null, 40)).toBe(40)
  })
})
