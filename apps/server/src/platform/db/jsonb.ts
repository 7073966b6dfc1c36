/**
 * A value for a jsonb column. The driver would send an array as PostgreSQL's own kind of array, so
 * it goes as text; its type here is what is read back.
 */
export const jsonb = <T>(value: T): T => JSON.stringify(value) as unknown as T
