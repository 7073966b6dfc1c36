import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { Children, isValidElement, memo, type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import Markdown, { type Components } from 'react-markdown'
import { Link } from 'react-router'
import { copyText } from '../../kit/copy.ts'
import { paths } from '../../paths.ts'
import { readErrorAdvice } from './errorAdvice.ts'
import { headingId, readLink } from './markdown.ts'
import './help.css'

/** Draws an article. HTML in it stays text: react-markdown knows Markdown only. */
export const Article = memo(function Article({ markdown }: { readonly markdown: string }) {
  return (
    <div className="help-prose">
      {/* readLink judges addresses; the library's own rule would cut Chinese anchors differently. */}
      <Markdown components={components} urlTransform={(url) => url}>
        {markdown}
      </Markdown>
    </div>
  )
})

const components: Components = {
  h2: ({ children }) => <AnchoredHeading as="h2">{children}</AnchoredHeading>,
  h3: ({ children }) => <AnchoredHeading as="h3">{children}</AnchoredHeading>,
  a: ({ href = '', children }) => <ArticleLink href={href}>{children}</ArticleLink>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  // Articles have no pictures: one that slips in must not load anything from elsewhere.
  img: ({ alt }) => <>{alt}</>,
}

function AnchoredHeading({ as: Tag, children }: { readonly as: 'h2' | 'h3'; readonly children: ReactNode }) {
  const { t } = useTranslation('help')
  const text = textOf(children)
  const id = headingId(text)
  return (
    <Tag id={id} tabIndex={-1}>
      {children}
      <a className="help-prose-anchor" href={`#${encodeURIComponent(id)}`} aria-label={t('anchor', { heading: text })}>
        #
      </a>
    </Tag>
  )
}

function ArticleLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const target = readLink(href)
  if (target === null) return <>{children}</>
  switch (target.kind) {
    case 'article':
      return (
        <Link to={{ pathname: paths.help.detail(target.id), ...(target.heading !== null && { hash: `#${encodeURIComponent(target.heading)}` }) }}>
          {children}
        </Link>
      )
    case 'heading':
      return <a href={`#${encodeURIComponent(target.heading)}`}>{children}</a>
    case 'site':
      // The API's own pages are the server's, not routes of the console.
      return target.path.startsWith('/api/') ? (
        <a href={target.path} target="_blank" rel="noopener">
          {children}
        </a>
      ) : (
        <Link to={target.path}>{children}</Link>
      )
    case 'foreign':
      return (
        <a href={target.url} target="_blank" rel="noopener noreferrer">
          {children}
        </a>
      )
  }
}

function CodeBlock({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation('help')
  const code = textOf(children).replace(/\n$/, '')
  if (languageOf(children) === 'error-codes') return <ErrorCodes block={code} />
  return (
    <div className="help-prose-code">
      {/* Focusable, so that what is wider than the page can be scrolled by keyboard. */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <Button size="small" type="text" icon={<CopyOutlined />} aria-label={t('copyCode')} title={t('copyCode')} onClick={() => void copyText(code)} />
    </div>
  )
}

function ErrorCodes({ block }: { readonly block: string }) {
  const { t } = useTranslation('help')
  return (
    <div className="help-prose-table" role="group" aria-label={t('error.code')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('error.code')}</th>
            <th scope="col">{t('error.text')}</th>
            <th scope="col">{t('error.advice')}</th>
          </tr>
        </thead>
        <tbody>
          {readErrorAdvice(block).map(({ entry, advice }) => (
            <tr key={entry.code} id={`code-${entry.code}`}>
              <th scope="row">{entry.code}</th>
              {/* What is filled in by the server has no value here. */}
              <td>{entry.text.replace(/\{\w+\}/g, '…')}</td>
              <td>{advice}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function textOf(node: ReactNode): string {
  return Children.toArray(node)
    .map((child) => {
      if (typeof child === 'string' || typeof child === 'number') return String(child)
      return isValidElement<{ children?: ReactNode }>(child) ? textOf(child.props.children) : ''
    })
    .join('')
}

function languageOf(node: ReactNode): string | null {
  const [code] = Children.toArray(node)
  if (!isValidElement<{ className?: string }>(code)) return null
  return /language-([\w-]+)/.exec(code.props.className ?? '')?.[1] ?? null
}
