/** Has the browser save the file behind a short-lived link; it needs no token, and the page stays. */
export function saveFrom(path: string): void {
  const anchor = document.createElement('a')
  anchor.href = path
  anchor.download = ''
  anchor.click()
}
