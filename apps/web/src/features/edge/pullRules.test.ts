import { describe, expect, it } from 'vitest'
import { layerPercent, layerState, namesOf, pullPercent, shortId } from './pullRules.ts'

const layer = (status: string, current_bytes = 0, total_bytes: number | null = null) => ({ id: status, status, current_bytes, total_bytes })

describe('layerPercent', () => {
  it('is half for what has come, and whole for what is in its place', () => {
    expect(
      [
        layer('Waiting'),
        layer('Downloading', 5, 10),
        layer('Download complete'),
        layer('Extracting', 5, 10),
        layer('Pull complete'),
        layer('Already exists'),
      ].map(layerPercent),
    ).toEqual([0, 25, 50, 75, 100, 100])
  })
  it('claims nothing where the size is not known, nor more than all', () => {
    expect(layerPercent(layer('Downloading', 5))).toBe(0)
    expect(layerPercent(layer('Downloading', 20, 10))).toBe(50)
  })
  it('leaves words of Docker that it does not know', () => {
    expect(layerState(layer('Retrying in 3 seconds'))).toBeNull()
    expect(layerState(layer('toString'))).toBeNull()
  })
})

describe('pullPercent', () => {
  it('counts layers by their sizes, and not those that are there', () => {
    expect(pullPercent({ status: 'running', layers: [layer('Pull complete', 90, 90), layer('Waiting', 0, 10), layer('Already exists')] })).toBe(90)
  })
  it('counts them alike until all sizes are known', () => {
    expect(pullPercent({ status: 'running', layers: [layer('Pull complete', 90, 90), layer('Waiting')] })).toBe(50)
  })
  it('is whole once it has succeeded, and nothing before the first layer', () => {
    expect(pullPercent({ status: 'succeeded', layers: [] })).toBe(100)
    expect(pullPercent({ status: 'running', layers: [] })).toBe(0)
    expect(pullPercent({ status: 'running', layers: [layer('Already exists')] })).toBe(100)
  })
})

describe('images', () => {
  it('are removed by all their names, or by their id', () => {
    expect(namesOf({ id: 'sha256:ab', tags: ['a:1', 'b:1'] })).toEqual(['a:1', 'b:1'])
    expect(namesOf({ id: 'sha256:ab', tags: [] })).toEqual(['sha256:ab'])
  })
  it('are shown by twelve digits', () => expect(shortId(`sha256:${'0123456789abcdef'.repeat(4)}`)).toBe('0123456789ab'))
})
