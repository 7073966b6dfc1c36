import { describe, expect, it } from 'vitest'
import { typedParts } from './registryImages.ts'

describe('what is typed of an image', () => {
  it.each([
    ['', '', null],
    ['nginx', 'nginx', null],
    ['registry.example:5000/team', 'registry.example:5000/team', null],
    ['registry.example:5000/team/app:', 'registry.example:5000/team/app', ''],
    ['registry.example:5000/team/app:1.0', 'registry.example:5000/team/app', '1.0'],
  ])('%j is %j and %j', (typed, repository, tag) => expect(typedParts(typed)).toEqual({ repository, tag }))
})
