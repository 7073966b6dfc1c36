const keyOf = (userId: string): string => `zhisuan.start.${userId}`

/** Whether somebody needs the first steps no more, in this browser. */
export function readPutAway(userId: string): boolean {
  try {
    return localStorage.getItem(keyOf(userId)) !== null
  } catch {
    return false
  }
}

export function writePutAway(userId: string): void {
  try {
    localStorage.setItem(keyOf(userId), 'away')
  } catch {
    // Without storage it holds until the page is left.
  }
}
