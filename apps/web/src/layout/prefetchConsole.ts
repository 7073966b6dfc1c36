/** Whoever signs in goes to the console next: its script comes while the server checks the password. */
export const prefetchConsole = (): void => void import('./ConsoleLayout.tsx').catch(() => undefined)
