import { z } from 'zod'

const shape = z.object({
  fontSize: z.int().min(10).max(24).catch(14),
  /** Puts what is printed where screen readers find it; costs speed. */
  screenReader: z.boolean().catch(false),
})
export type TerminalSettings = z.output<typeof shape>

const key = 'terminalSettings'

/** How a person likes terminals, kept for this browser. */
export function readTerminalSettings(): TerminalSettings {
  try {
    return shape.parse(JSON.parse(localStorage.getItem(key) ?? '{}'))
  } catch {
    return shape.parse({})
  }
}

export const writeTerminalSettings = (settings: TerminalSettings): void => localStorage.setItem(key, JSON.stringify(settings))
