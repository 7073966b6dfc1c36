import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useMemo, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { clearable } from '../../kit/clearable.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { LogPane } from './LogPane.tsx'
import { withLines, type LogLook } from './logLines.ts'

/** So many lines that match are shown, the newest. */
const matchesMax = 1_000

/** Lines of the log that have a text in them, found on the node: far more of them than a browser is sent. */
export function SearchedLog({ container, look }: { readonly container: Pick<Container, 'id' | 'name'>; readonly look: LogLook }) {
  const { t } = useTranslation('container')
  const [keyword, setKeyword] = useState('')
  const { data, error, isFetching, isPlaceholderData, refetch } = useCall(
    containers.logs,
    { params: { id: container.id }, query: { keyword, tail: matchesMax } },
    { silent: true, enabled: keyword !== '' },
  )
  const lines = useMemo(() => withLines([], data?.items ?? []), [data])
  const all = useMemo(() => lines.map(({ number }) => number), [lines])
  const result = () => {
    if (keyword === '') return <EmptyState title={t('log.searchStart')} />
    if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
    // What was found for another text says nothing of this one.
    if (data === undefined || isPlaceholderData) return <Skeleton active paragraph={{ rows: 8 }} />
    if (lines.length === 0) return <EmptyState title={t('log.searchNone', { keyword })} />
    return (
      <>
        <LogPane lines={lines} look={look} name={container.name} search={keyword} found={all} current={null} />
        <p className="zs-soft" role="status">
          {lines.length < matchesMax ? t('log.found', { count: lines.length }) : t('log.foundMost', { count: matchesMax })}
        </p>
      </>
    )
  }
  return (
    <>
      <div className="zs-bar">
        <Input.Search
          allowClear={clearable}
          aria-label={t('log.keyword')}
          placeholder={t('log.keyword')}
          loading={isFetching}
          onSearch={(text) => (text === keyword && text !== '' ? void refetch() : setKeyword(text))}
        />
      </div>
      {result()}
    </>
  )
}
