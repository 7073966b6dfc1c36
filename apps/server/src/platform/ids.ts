import { v7 } from 'uuid'

/** Ids of our own objects: UUID version 7, so that they sort by the time they were made. */
export const uuidv7 = (): string => v7()

/** Of each its own. */
export const idsOf = <Id>(rows: readonly { readonly id: Id }[]): Id[] => rows.map(({ id }) => id)
