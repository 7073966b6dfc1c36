import { cloudParameter, nameCloudBy, paths } from '../paths.ts'

/** The one thing of local storage that outlives a session: section 4. */
export const cloudChoiceKey = 'zhisuan.cloud'

const listeners = new Set<() => void>()

/** What addresses of pages about one cloud's things begin with. */
const namingPages = new Set(Object.values(paths.compute).flatMap((group) => Object.values(group).map(({ template }) => template.split('/')[1])))

/** What the address says comes before what was chosen last. */
export const readCloudChoice = (): string | null => cloudOfAddress() ?? readLastChoice()

export const cloudOfAddress = (): string | null =>
  namingPages.has(location.pathname.split('/')[1]) ? new URLSearchParams(location.search).get(cloudParameter) : null

// On a page of no cloud nobody knows where a thing is: the choice says it when the link is followed.
// Rules that lead somewhere are also read where there are no addresses.
if ('location' in globalThis) nameCloudBy(cloudOfAddress)

export function readLastChoice(): string | null {
  try {
    return localStorage.getItem(cloudChoiceKey)
  } catch {
    return null
  }
}

let here: string | null = null
/** What was chosen in this window: what others choose is no reason to lead this one elsewhere. */
export const readChoiceHere = (): string | null => here

export function writeCloudChoice(cloudId: string): void {
  here = cloudId
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
