import type { ArticleId } from './articles.ts'
import { plainText, tableOfContents, type Heading } from './markdown.ts'

export interface Searchable {
  readonly id: ArticleId
  readonly title: string
  readonly summary: string
  readonly markdown: string
}

export interface Finding {
  readonly id: ArticleId
  readonly title: string
  /** A heading that says it, to go there at once. */
  readonly heading: Heading | null
  /** The words around the first place, or the summary. */
  readonly excerpt: string
}

const words = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')

/**
 * Articles that hold every word of the query; those that say it in their title come first, then in
 * a heading, the summary, the text. Chinese has no spaces: a word is whatever stands between them.
 */
export function searchArticles(articles: readonly Searchable[], query: string): Finding[] {
  const wanted = words(query)
  if (wanted.length === 0) return []
  const found: { readonly finding: Finding; readonly score: number }[] = []
  for (const article of articles) {
    const text = plainText(article.markdown)
    const headings = tableOfContents(article.markdown)
    const title = article.title.toLowerCase()
    const summary = article.summary.toLowerCase()
    const all = `${title} ${summary} ${text.toLowerCase()}`
    if (!wanted.every((word) => all.includes(word))) continue
    const holds = (place: string): boolean => wanted.every((word) => place.toLowerCase().includes(word))
    const heading = headings.find(({ text: said }) => holds(said)) ?? null
    const score = (holds(title) ? 8 : 0) + (heading === null ? 0 : 4) + (holds(summary) ? 2 : 0)
    found.push({
      score,
      finding: { id: article.id, title: article.title, heading: holds(title) ? null : heading, excerpt: excerptOf(text, wanted) ?? article.summary },
    })
  }
  return found.sort((left, right) => right.score - left.score).map(({ finding }) => finding)
}

const before = 24
const after = 72

function excerptOf(text: string, wanted: readonly string[]): string | null {
  const lower = text.toLowerCase()
  const places = wanted.map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  if (places.length === 0) return null
  const first = Math.min(...places)
  const start = Math.max(0, first - before)
  const end = Math.min(text.length, first + after)
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}

/** A text cut where the query's words stand, for marking them. */
export function marked(text: string, query: string): { readonly text: string; readonly hit: boolean }[] {
  const wanted = words(query).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (wanted.length === 0) return [{ text, hit: false }]
  return text
    .split(new RegExp(`(${wanted.join('|')})`, 'gi'))
    .map((part, index) => ({ text: part, hit: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
