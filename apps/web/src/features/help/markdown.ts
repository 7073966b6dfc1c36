/** A heading of an article, as the table of contents and deep links know it. */
export interface Heading {
  readonly depth: 2 | 3
  readonly text: string
  /** Its id on the page, and the part after # in its address. */
  readonly id: string
}

/**
 * The id of a heading from its words, as GitHub makes them: letters, digits and Chinese stay,
 * spaces become hyphens, everything else goes. So links work in the repository and in the console.
 */
export const headingId = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replace(/\s+/g, '-')

/** Without the marks of emphasis, code and links. */
const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .trim()

/** The lines that are prose: not those of fenced code, where # and [ mean something else. */
function proseLines(markdown: string): string[] {
  const lines: string[] = []
  let fenced = false
  for (const line of markdown.split('\n')) {
    if (/^\s*```/.test(line)) fenced = !fenced
    else if (!fenced) lines.push(line)
  }
  return lines
}

/** What is on the page, in order: headings of the second and third degree. */
export function tableOfContents(markdown: string): Heading[] {
  return proseLines(markdown).flatMap((line) => {
    const match = /^(#{2,3})\s+(.+)$/.exec(line)
    if (match === null) return []
    const text = plain(match[2] ?? '')
    return [{ depth: match[1] === '##' ? 2 : 3, text, id: headingId(text) } as const]
  })
}

/** The targets of all links. */
export const linksOf = (markdown: string): string[] =>
  [
    ...proseLines(markdown)
      .join('\n')
      .matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g),
  ].flatMap((match) => (match[1] === undefined ? [] : [match[1]]))

/** Where a link of an article leads. */
export type LinkTarget =
  | { readonly kind: 'article'; readonly id: string; readonly heading: string | null }
  /** On this page. */
  | { readonly kind: 'heading'; readonly heading: string }
  /** A page of the console, or something that the server serves beside it. */
  | { readonly kind: 'site'; readonly path: string }
  | { readonly kind: 'foreign'; readonly url: string }

/** `./licence.md#公钥`, `#公钥`, `/license` or a whole address; null for what is none of them. */
export function readLink(href: string): LinkTarget | null {
  const decoded = safeDecode(href)
  const article = /^\.\/([a-z-]+)\.md(?:#(.+))?$/.exec(decoded)
  if (article?.[1] !== undefined) return { kind: 'article', id: article[1], heading: article[2] ?? null }
  if (decoded.startsWith('#')) return { kind: 'heading', heading: decoded.slice(1) }
  if (/^\/(?!\/)/.test(decoded)) return { kind: 'site', path: decoded }
  return /^https?:\/\//.test(href) ? { kind: 'foreign', url: href } : null
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What an article says, without marks: to search in and to cite from. */
export const plainText = (markdown: string): string =>
  markdown
    .split('\n')
    .filter((line) => !/^\s*```/.test(line))
    .map((line) => plain(line.replace(/^\s*(#{1,6}|[-*]|\d+\.)\s+/, '')))
    .filter((line) => line !== '')
    .join(' ')
