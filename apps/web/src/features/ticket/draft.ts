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
