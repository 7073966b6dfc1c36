import { themeClass } from './theme.ts'

/**
 * Styles of antd's components that were made when the console was built (apps/web/antdStyles.ts): antd would make them
 * anew in each browser, and ask about them for each component on a page, which took a third of all that a page computes.
 */

/** Stand in the text of a style for the class of the component and that of its variables, which are known when it is drawn. */
export const placeholder = { prefix: 'zs-made-prefix', root: 'zs-made-root' } as const

const put = new Set<string>()

/** Before all of ours, which may say otherwise; of antd's own, first components, then what varies them. */
let lastOf: { readonly components: HTMLStyleElement; readonly variants: HTMLStyleElement } | null = null

function add(kind: 'components' | 'variants', text: string, prefix: string, root: string): void {
  const css = text.replaceAll(placeholder.prefix, prefix).replaceAll(placeholder.root, root)
  if (css === '' || put.has(css)) return
  put.add(css)
  if (lastOf === null) {
    lastOf = { components: document.createElement('style'), variants: document.createElement('style') }
    document.head.prepend(lastOf.components, lastOf.variants)
  }
  const element = document.createElement('style')
  element.textContent = css
  lastOf[kind].after(element)
  lastOf = { ...lastOf, [kind]: element }
}

/** In place of antd's `genStyleHooks`: classes for a component, whose styles are there from its first drawing on. */
export const styleHooks =
  (variables: string, styles: string, withStyles = true) =>
  (prefix: string, root = prefix): readonly [hash: string, variables: string] => {
    add('components', variables, prefix, root)
    if (withStyles) add('components', styles, prefix, root)
    return ['', themeClass]
  }

/** In place of `genComponentStyleHook`. */
export const styleHook =
  (styles: string) =>
  (prefix: string, root = prefix): string => {
    add('components', styles, prefix, root)
    return ''
  }

/** In place of `genSubStyleComponent`: draws nothing. */
export const styleComponent =
  (styles: string) =>
  ({ prefixCls: prefix, rootCls: root = prefix }: { readonly prefixCls: string; readonly rootCls?: string }): null => {
    add('variants', styles, prefix, root)
    return null
  }

/** In place of what antd's provider draws itself. */
export const sharedStyles = (styles: string) => (): void => add('components', styles, '', '')
