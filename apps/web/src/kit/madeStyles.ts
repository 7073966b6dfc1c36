import { themeClass } from './theme.ts'

/**
 * Styles of antd's components that were made when the console was built (apps/web/antdStyles.ts): antd would make them
 * anew in each browser, and ask about them for each component on a page, which took a third of all that a page computes.
 */

/** Stand in the text of a style for the class of the component and that of its variables, which are known when it is drawn. */
export const placeholder = { prefix: 'zs-made-prefix', root: 'zs-made-root' } as const

/** Before all of ours, which may say otherwise; of antd's own, first components, then what varies them. */
let lastOf: { readonly components: HTMLStyleElement; readonly variants: HTMLStyleElement } | null = null

/** For which classes a style is there. By its text, as some of antd's components make their hook anew at every drawing. */
const thereFor = new Map<string, Set<string>>()

/** Puts a style into the page when it is asked for two classes first; it is asked at every drawing. */
function adding(kind: 'components' | 'variants', text: string): (prefix: string, root: string) => void {
  const put = thereFor.get(text) ?? new Set()
  thereFor.set(text, put)
  return (prefix, root) => {
    const classes = `${prefix} ${root}`
    if (text === '' || put.has(classes)) return
    put.add(classes)
    if (lastOf === null) {
      lastOf = { components: document.createElement('style'), variants: document.createElement('style') }
      document.head.prepend(lastOf.components, lastOf.variants)
    }
    const element = document.createElement('style')
    element.textContent = text.replaceAll(placeholder.prefix, prefix).replaceAll(placeholder.root, root)
    lastOf[kind].after(element)
    lastOf = { ...lastOf, [kind]: element }
  }
}

/** In place of antd's `genStyleHooks`: classes for a component, whose styles are there from its first drawing on. */
export function styleHooks(variables: string, styles: string, withStyles = true) {
  const addVariables = adding('components', variables)
  const addStyles = adding('components', withStyles ? styles : '')
  return (prefix: string, root = prefix): readonly [hash: string, variables: string] => {
    addVariables(prefix, root)
    addStyles(prefix, root)
    return ['', themeClass]
  }
}

/** In place of `genComponentStyleHook`. */
export function styleHook(styles: string) {
  const add = adding('components', styles)
  return (prefix: string, root = prefix): string => {
    add(prefix, root)
    return ''
  }
}

/** In place of `genSubStyleComponent`: draws nothing. */
export function styleComponent(styles: string) {
  const add = adding('variants', styles)
  return ({ prefixCls: prefix, rootCls: root = prefix }: { readonly prefixCls: string; readonly rootCls?: string }): null => {
    add(prefix, root)
    return null
  }
}

/** In place of what antd's provider draws itself. */
export function sharedStyles(styles: string) {
  const add = adding('components', styles)
  return (): void => add('', '')
}
