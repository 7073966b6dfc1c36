/** Hands a text to the person as a file. */
export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** Whether somebody is about to give away what he must not. */
export const looksPrivate = (text: string): boolean => /-----BEGIN [A-Z ]*PRIVATE KEY-----|^PuTTY-User-Key-File/m.test(text)

/** A public key as it stands in a file: its one line, without what editors put around it. */
export const keyLine = (text: string): string => text.replace(/^\uFEFF/, '').trim()
