import { vi } from 'vitest'

/** What is waited for comes, on a machine that does everything at once later than within Vitest's own second. */
const waitFor = vi.waitFor
vi.waitFor = (callback, options = { timeout: 20_000 }) => waitFor(callback, options)
