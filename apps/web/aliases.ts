import { join } from 'node:path'

/** Of the texts' library the types are its, and what runs is ours: src/i18n.ts says why. */
export const aliases = { 'react-i18next': join(import.meta.dirname, 'src/i18n.ts') }
