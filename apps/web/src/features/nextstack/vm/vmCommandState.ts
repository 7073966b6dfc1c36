/** Which terminals are open and which are seen, as the address of the page has it: `?id=a,b,c&at=b&beside=c`. */
export interface CommandState {
  /** Open terminals, by instance, in the order of their tabs. */
  readonly open: readonly string[]
  /** The one in front; null where none is open. */
  readonly at: string | null
  /** The one to its right, in the split view. */
  readonly beside: string | null
}

/** Each is a shell on the server and a screen here. */
export const terminalsMax = 8

export function readCommand(search: URLSearchParams): CommandState {
  const open = [...new Set((search.get('id') ?? '').split(',').filter((id) => id !== ''))].slice(0, terminalsMax)
  const known = (id: string | null): string | null => (id !== null && open.includes(id) ? id : null)
  const at = known(search.get('at')) ?? open[0] ?? null
  const beside = known(search.get('beside'))
  return { open, at, beside: beside === at ? null : beside }
}

export function writeCommand(state: CommandState): URLSearchParams {
  const search = new URLSearchParams()
  if (state.open.length > 0) search.set('id', state.open.join(','))
  if (state.at !== null && state.at !== state.open[0]) search.set('at', state.at)
  if (state.beside !== null) search.set('beside', state.beside)
  return search
}

/** Brings a terminal to the front; one that is new gets a tab. Unchanged where there are too many. */
export function showTerminal(state: CommandState, id: string): CommandState {
  if (state.open.includes(id)) return id === state.beside ? { ...state, at: id, beside: state.at } : { ...state, at: id }
  if (state.open.length >= terminalsMax) return state
  return { ...state, open: [...state.open, id], at: id }
}

/** Its neighbour comes to the front. */
export function closeTerminal(state: CommandState, id: string): CommandState {
  const place = state.open.indexOf(id)
  const open = state.open.filter((one) => one !== id)
  const next = open[Math.min(place, open.length - 1)] ?? null
  const at = state.at === id ? (state.beside ?? next) : state.at
  const beside = state.beside === id || state.beside === at ? null : state.beside
  return { open, at, beside }
}

/** Splits the view with the next tab, or shows one again. */
export function toggleSplit(state: CommandState): CommandState {
  if (state.beside !== null) return { ...state, beside: null }
  const place = state.at === null ? -1 : state.open.indexOf(state.at)
  const other = state.open[place + 1] ?? state.open.find((id) => id !== state.at) ?? null
  return { ...state, beside: other }
}
