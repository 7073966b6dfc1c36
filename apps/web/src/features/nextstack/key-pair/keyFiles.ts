/** Whether somebody is about to give away what they must not. */
export const looksPrivate = (text: string): boolean => /-----BEGIN [A-Z ]*PRIVATE KEY-----|^PuTTY-User-Key-File/m.test(text)

/** A public key as it stands in a file: its one line, without what editors put around it. */
export const keyLine = (text: string): string => text.replace(/^\uFEFF/, '').trim()
