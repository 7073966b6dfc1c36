/** What somebody has typed and not sent, on this computer: it is there again after a reload. Signing out clears it with all that is stored. */
const key = (of: string): string => `ticket-draft:${of}`

export function readDraft(of: string): string {
  try {
    return localStorage.getItem(key(of)) ?? ''
  } catch {
    return ''
  }
}

export function writeDraft(of: string, text: string): void {
  try {
    if (text.trim() === '') localStorage.removeItem(key(of))
    else localStorage.setItem(key(of), text)
  } catch {
    // Storage is full or closed: the text stays on the page.
  }
}

/** The same of a form: its texts by their fields. None that are to be kept from others belong in it. */
export function readFields(of: string): Readonly<Record<string, string>> {
  try {
    const read: unknown = JSON.parse(readDraft(of))
    if (typeof read !== 'object' || read === null) return {}
    return Object.fromEntries(Object.entries(read).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return {}
  }
}
export const writeFields = (of: string, fields: Readonly<Record<string, string>>): void =>
  writeDraft(of, Object.keys(fields).length === 0 ? '' : JSON.stringify(fields))
