import { fileEntries, fileSpaces } from '@zhisuan/contract/files/file'

/** Calls whose answers are no longer true when something in a space has changed. */
export const invalidatedByFiles = [fileSpaces.entries, fileSpaces.list, fileEntries.get] as const
