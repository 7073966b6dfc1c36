import { AsyncLocalStorage } from 'node:async_hooks'

const advance = new AsyncLocalStorage<true>()

/** Makes something that is, or is to be, paid in advance: what holds for what is paid by the hour does not hold for it. */
export const inAdvance = <T>(make: () => Promise<T>): Promise<T> => advance.run(true, make)

export const isInAdvance = (): boolean => advance.getStore() === true
