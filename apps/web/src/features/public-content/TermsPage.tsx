import PrinterOutlined from '@ant-design/icons/es/icons/PrinterOutlined'
import Button from 'antd/es/button'
import Skeleton from 'antd/es/skeleton'
import { useMemo, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import type { ResponseOf } from '@zhisuan/contract/define'
import { terms } from '@zhisuan/contract/root/terms'
import { useCall } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { TableOfContents } from '../../kit/TableOfContents.tsx'
import { useScrollToHash } from '../../kit/useScrollToHash.ts'
import './content.css'
import { emphasised, sectionId } from './emphasis.ts'

/** What one agrees to: as the server has it now, never from a cache. */
export default function TermsPage() {
  const { t } = useTranslation('content')
  const [time] = useState(() => String(Date.now()))
  const { data, error, refetch } = useCall(terms.get, { query: { time } }, { silent: true })
  useScrollToHash(data !== undefined)
  if (data === undefined) {
    return (
      <div className="content-terms-wait">
        {error === null ? (
          <Skeleton active paragraph={{ rows: 12 }} />
        ) : (
          <ErrorPanel error={error} title={t('terms.loadFailed')} onRetry={() => void refetch()} />
        )}
      </div>
    )
  }
  return data.sections.length === 0 ? <EmptyState title={t('terms.empty')} /> : <Terms text={data} />
}

function Terms({ text }: { readonly text: ResponseOf<typeof terms.get> }) {
  const { t } = useTranslation('content')
  const headings = useMemo(() => text.sections.map((section, index) => ({ id: sectionId(index), text: section.heading })), [text])
  return (
    <div className="content-terms">
      <TableOfContents label={t('terms.contents')} headings={headings} />
      <article className="content-terms-text" aria-labelledby="page-title">
        <h1 id="page-title" tabIndex={-1}>
          {text.title}
        </h1>
        <p className="content-terms-updated">
          {t('terms.updated', { date: text.updated_at })}
          <Button size="small" type="text" icon={<PrinterOutlined aria-hidden />} className="content-terms-print" onClick={() => print()}>
            {t('terms.print')}
          </Button>
        </p>
        {text.sections.map((section, index) => (
          <section key={section.heading}>
            <h2 id={sectionId(index)} tabIndex={-1}>
              {section.heading}
            </h2>
            {section.paragraphs.map((paragraph) => (
              <p key={paragraph}>{emphasised(paragraph).map((piece, at) => (piece.strong ? <strong key={at}>{piece.text}</strong> : piece.text))}</p>
            ))}
          </section>
        ))}
      </article>
    </div>
  )
}
