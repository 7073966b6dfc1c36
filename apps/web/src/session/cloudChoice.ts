/** The one thing of local storage that outlives a session: section 4. */
export const cloudChoiceKey = 'zhisuan.cloud'

const listeners = new Set<() => void>()

export function readCloudChoice(): string | null {
  try {
    return localStorage.getItem(cloudChoiceKey)
  } catch {
    return null
  }
}

export function writeCloudChoice(cloudId: string): void {
  try {
    localStorage.setItem(cloudChoiceKey, cloudId)
  } catch {
    // Without storage the first cloud counts.
  }
  for (const tell of listeners) tell()
}

export function onCloudChoice(tell: () => void): () => void {
  listeners.add(tell)
  addEventListener('storage', tell)
  return () => {
    listeners.delete(tell)
    removeEventListener('storage', tell)
  }
}
