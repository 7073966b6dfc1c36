import { z } from 'zod'
import { isPlatformKind } from '../roles.ts'
import { fieldTexts } from '../texts.ts'

/** With all that is below them. */
const systems = /^\/(proc|sys|dev|run|etc|boot|root|usr|bin|sbin|lib|lib64|var\/run|var\/lib\/(docker|containerd|zhisuan-agent)|opt\/zhisuan-agent)(\/|$)/
/** Themselves: they hold what is the system's. */
const above = /^\/(var|var\/lib|opt)\/?$/
const isPlain = (path: string): boolean => path.split('/').every((part) => part !== '.' && part !== '..')

/** A directory or file of a node, and not of its system's. */
export const hostPath = z
  .string()
  .trim()
  .max(1_024)
  .regex(/^(\/[^/\0]+)+\/?$/, fieldTexts.hostPath)
  .refine((path) => isPlain(path) && !systems.test(path) && !above.test(path), fieldTexts.hostPath)

/**
 * The one rule of what of a node may be mounted into what runs there, by containers and by
 * applications alike. `foreign`: only who has the node may. `system`: not that, a guard against
 * mistakes; whoever mounts directories of their own node can do there what they like.
 */
export function bindRefusal(
  who: { readonly kind: number; readonly bp_id: string | null },
  node: { readonly bp_id: string | null },
  path: string,
): 'foreign' | 'system' | null {
  if (isPlatformKind(who.kind)) return null
  if (who.bp_id === null || node.bp_id !== who.bp_id) return 'foreign'
  return hostPath.safeParse(path).success ? null : 'system'
}
