import Markdown, { type Components } from 'react-markdown'
import './prose.css'

const components: Components = {
  // Whoever pushed it wrote it: it loads nothing from elsewhere, and leads there only by a link that says so.
  img: ({ alt }) => <>{alt}</>,
  a: ({ href = '', children }) =>
    /^https?:\/\//.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <>{children}</>
    ),
}

/** Markdown as people wrote it; HTML in it stays text. */
export default function Prose({ markdown }: { readonly markdown: string }) {
  return (
    <div className="zs-prose">
      <Markdown components={components}>{markdown}</Markdown>
    </div>
  )
}
