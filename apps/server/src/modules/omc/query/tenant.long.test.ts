import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ofOrganisation } from './tenant.ts'
import { arbitraryQuery, selectorsOf } from './tenant.testing.ts'

const bpId = '0198c7a4-0000-7000-8000-000000000001'

describe('ten thousand questions of a tenant', () => {
  it('name their organisation in each selector', () => {
    fc.assert(
      fc.property(arbitraryQuery, (query) => {
        const selectors = selectorsOf(ofOrganisation(query, bpId))
        expect(selectors).toHaveLength(selectorsOf(query).length)
        for (const selector of selectors) expect(selector).toContain(`{bp_id="${bpId}"`)
      }),
      { numRuns: 10_000 },
    )
  })
})
