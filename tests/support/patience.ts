import { afterAll, vi } from 'vitest'

const { waitFor } = vi
/** What is waited for comes, on a machine that does everything at once later than whoever wrote the test thought. */
const patiently: typeof waitFor = (callback, options = {}) => {
  const { timeout = 0, ...rest } = typeof options === 'number' ? { timeout: options } : options
  return waitFor(callback, { ...rest, timeout: Math.max(timeout, 60_000) })
}
// Files that share their imports share this, too.
if (waitFor.name !== patiently.name) vi.waitFor = patiently

// Nor does one file meet what another pretended to be in a browser.
afterAll(() => void vi.unstubAllGlobals())
