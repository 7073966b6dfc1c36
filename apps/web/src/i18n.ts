import type { TFunction, i18n as I18n } from 'i18next'
import type { useTranslation as UseTranslation } from 'react-i18next'
import { loaders, present, type LazyNamespace } from './locales/namespaces.ts'

/*
 * What i18next and react-i18next do for this console: texts by keys, with places to fill. There is one language (en is
 * specified to be identical, and nothing offers a switch), no plural of its own and no text from elsewhere, so that
 * little of the two is left, and they were a tenth of what the sign-in page loads. Their types stay: with
 * them the compiler knows each key.
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

const fixed = new Map<string, { readonly t: TFunction }>()

/** The same every time, so that nothing that depends on it is made anew. */
function translationOf(namespaces: string | readonly string[] = 'shell'): { readonly t: TFunction } {
  const id = String(namespaces)
  const all = typeof namespaces === 'string' ? [namespaces] : namespaces
  const known = fixed.get(id) ?? { t: ((key: string, values?: Readonly<Record<string, unknown>>) => say(all, key, values)) as unknown as TFunction }
  fixed.set(id, known)
  return known
}

/** The texts of some namespaces, the first of them without naming it: `const { t } = useTranslation('edge')`. */
export const useTranslation = translationOf as unknown as typeof UseTranslation

export const i18n = {
  t: translationOf().t,
  getFixedT: (_language: string, namespaces: string | readonly string[]) => translationOf(namespaces).t,
  hasResourceBundle: (_language: string, namespace: string) => texts.has(namespace),
  addResourceBundle: (_language: string, namespace: string, bundle: Texts) => void texts.set(namespace, { ...texts.get(namespace), ...bundle }),
  removeResourceBundle: (_language: string, namespace: string) => void texts.delete(namespace),
} as unknown as Pick<I18n, 't' | 'getFixedT' | 'hasResourceBundle' | 'addResourceBundle' | 'removeResourceBundle'>

/** Brings messages that are not there yet; those that are cost nothing. */
export async function loadMessages(namespaces: readonly LazyNamespace[]): Promise<void> {
  await Promise.all(
    namespaces
      .filter((namespace) => !i18n.hasResourceBundle('zh', namespace))
      .map(async (namespace) => {
        const messages = await loaders[namespace]()
        i18n.addResourceBundle('zh', namespace, messages.default)
      }),
  )
}
