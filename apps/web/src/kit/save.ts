/** Has the browser save the file behind a short-lived link; it needs no token, and the page stays. */
export function saveFrom(path: string): void {
  const anchor = document.createElement('a')
  anchor.href = path
  anchor.download = ''
  anchor.click()
}

/** Hands a text to the person as a file. */
export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
