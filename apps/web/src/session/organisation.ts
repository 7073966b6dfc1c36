const key = 'zhisuan.organisation'
const form = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Whose own accounts the login page offers: that of the address one came by, or else that whose account was
 * signed in with before. An address alone is not remembered: anybody may send one.
 */
export function organisationOf(asked: string | null): string | undefined {
  if (asked !== null && form.test(asked)) return asked
  try {
    const kept = localStorage.getItem(key)
    return kept !== null && form.test(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

/** Once somebody has signed in with an account of it. */
export function rememberOrganisation(id: string): void {
  try {
    localStorage.setItem(key, id)
  } catch {
    // Without storage people come by the address.
  }
}
