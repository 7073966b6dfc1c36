import type { ReactNode } from 'react'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { useVocabulary, type Vocabulary } from '../../kit/useVocabulary.ts'

/** What is about all services and kinds of resources, once they are known. */
export function WithVocabulary({ children }: { readonly children: (vocabulary: Vocabulary) => ReactNode }) {
  const { vocabulary, error, retry } = useVocabulary()
  if (vocabulary !== undefined) return children(vocabulary)
  if (error === null) return <PagePlaceholder />
  return (
    <div className="zs-card">
      <ErrorPanel error={error} onRetry={retry} />
    </div>
  )
}
