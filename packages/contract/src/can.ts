/**
 * What may be done to a resource in which state, as data: the server refuses with 409 from it,
 * the console disables the button from it and says why.
 */
export type Can<Action extends string, State extends string> = {
  readonly [A in Action]: readonly State[]
}

/**
 * @example const vmCan = can<VmStatus>()({ start: ['stopped'], stop: ['running'] })
 */
export const can =
  <State extends string>() =>
  <const Table extends Readonly<Record<string, readonly State[]>>>(table: Table): Table =>
    table
