import { useEffect, useState } from 'react'
import './contents.css'

export interface ContentsEntry {
  readonly id: string
  readonly text: string
  readonly depth?: 2 | 3
}

/** A page's own contents: stays in sight, and marks where the reader is. */
export function TableOfContents({ label, headings }: { readonly label: string; readonly headings: readonly ContentsEntry[] }) {
  const current = useCurrentHeading(headings)
  // The place stays while the page loads, so that nothing moves.
  return (
    <nav className="zs-contents" aria-label={label}>
      {headings.length > 1 && (
        <>
          <p className="zs-contents-title">{label}</p>
          <ul>
            {headings.map((heading) => (
              <li key={heading.id} className={heading.depth === 3 ? 'zs-contents-sub' : ''}>
                <a href={`#${encodeURIComponent(heading.id)}`} {...(heading.id === current && { 'aria-current': 'location' as const })}>
                  {heading.text}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </nav>
  )
}

/** The last heading above the upper third of the window: what is being read. */
function useCurrentHeading(headings: readonly ContentsEntry[]): string | null {
  const [current, setCurrent] = useState<string | null>(null)
  useEffect(() => {
    let asked = 0
    const look = (): void => {
      asked = 0
      const line = innerHeight / 3
      const above = headings.filter(({ id }) => (document.getElementById(id)?.getBoundingClientRect().top ?? Infinity) < line)
      // At the very end the last ones never come up to the line.
      const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2
      setCurrent((atEnd ? headings.at(-1) : (above.at(-1) ?? headings[0]))?.id ?? null)
    }
    const ask = (): void => {
      if (asked === 0) asked = requestAnimationFrame(look)
    }
    ask()
    // Capturing: whichever element scrolls, the layout decides.
    addEventListener('scroll', ask, { passive: true, capture: true })
    addEventListener('resize', ask)
    return () => {
      cancelAnimationFrame(asked)
      removeEventListener('scroll', ask, { capture: true })
      removeEventListener('resize', ask)
    }
  }, [headings])
  return current
}
