import type { FlatNamespace, Namespace, TFunction } from 'i18next'
import { loaders, present, type LazyNamespace } from './locales/namespaces.ts'

/*
 * What i18next does for this console: texts by keys, with places to fill. There is one language (en is specified to be
 * identical, and nothing offers a switch), no plural of its own and no text from elsewhere, so that little of it is left,
 * and it was a tenth of what the sign-in page loads. Its types stay: with them the compiler knows each key.
 */

interface Texts {
  readonly [key: string]: string | Texts
}

/** By namespace. */
const texts = new Map<string, Texts>(Object.entries(present))

/** Keys may hold dots of their own: `quote.vm.vcpu` is the `vm.vcpu` of `quote`. */
function textAt(of: Texts, key: string): string | undefined {
  for (let dot = key.length; dot > 0; dot = key.lastIndexOf('.', dot - 1)) {
    const name = key.slice(0, dot)
    const found = Object.hasOwn(of, name) ? of[name] : undefined
    if (dot === key.length && typeof found === 'string') return found
    const text = typeof found === 'object' ? textAt(found, key.slice(dot + 1)) : undefined
    if (text !== undefined) return text
  }
  return undefined
}

/** The text of `key`, or of `namespace:key`, with its places filled; without one the default, or the key. */
function say(namespaces: readonly string[], key: string, values: Readonly<Record<string, unknown>> = {}): string {
  const colon = key.indexOf(':')
  const name = key.slice(colon + 1)
  let text: string | undefined
  for (const namespace of colon < 0 ? namespaces : [key.slice(0, colon)]) text ??= textAt(texts.get(namespace) ?? {}, name)
  return (text ?? String(values['defaultValue'] ?? name)).replace(/\{\{(\w+)\}\}/g, (_, place: string) => String(values[place] ?? ''))
}

const fixed = new Map<string, { readonly t: unknown }>()

/**
 * The texts of some namespaces, those of the first without naming it: `const { t } = useTranslation('edge')`. The same
 * function every time, so that nothing that depends on it is made anew.
 */
export function useTranslation<const N extends Namespace = 'shell'>(namespaces?: N): { readonly t: TFunction<N> } {
  const all: readonly string[] = typeof namespaces === 'object' ? namespaces : [namespaces ?? 'shell']
  const known = fixed.get(String(all)) ?? { t: (key: string, values?: Readonly<Record<string, unknown>>) => say(all, key, values) }
  fixed.set(String(all), known)
  // What may be asked for is the library's types' to say.
  return known as { readonly t: TFunction<N> }
}

/** The same for what is no component. */
export const textsOf = <const N extends Namespace>(namespaces: N): TFunction<N> => useTranslation(namespaces).t

/** Texts that every page has by their keys, and all others by `namespace:key`. */
export const translate = textsOf<readonly ['shell', ...Exclude<FlatNamespace, 'shell'>[]]>(['shell'])

export const addTexts = (namespace: string, more: Texts): void => void texts.set(namespace, { ...texts.get(namespace), ...more })

/** Brings messages that are not there yet; those that are cost nothing. */
export async function loadMessages(namespaces: readonly LazyNamespace[]): Promise<void> {
  await Promise.all(
    namespaces
      .filter((namespace) => !texts.has(namespace))
      .map(async (namespace) => {
        const messages = await loaders[namespace]()
        addTexts(namespace, messages.default)
      }),
  )
}
