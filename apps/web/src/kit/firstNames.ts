/** As many as a question about several lists. */
const shown = 8

/** The names of several, as far as a question can list them. @param more says how many there are in all, where there are more */
export const firstNames = (names: readonly string[], more: string): string => names.slice(0, shown).join('、') + (names.length > shown ? more : '')
