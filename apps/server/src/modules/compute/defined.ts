/** Without what is undefined. */
export const defined = <T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // What is left has none of the values that the type takes out.
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
