import { kindText } from '@zhisuan/contract/kindTexts'
import TreeSelect from 'antd/es/tree-select'
import { useMemo, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { actionText, matchesAction, serviceText, verbText } from '../../../kit/actionText.ts'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'
import { actionTree, withoutCovered, type ActionNode } from './actionTree.ts'
import { matchCount } from './builderDocument.ts'
import '../iam.css'

interface Choice {
  readonly value: string
  readonly label: string
}

const withPattern = (name: string, pattern: string) => (
  <span className="ia-node">
    {name} <span className="zs-code zs-soft">{pattern}</span>
  </span>
)

const tagOf = (name: string, pattern: string): string => (pattern.endsWith('*') ? `${name} ${pattern}` : actionText(pattern))

/** Actions as a tree that is searched; a pattern that is typed can be chosen too. */
export function ActionSelect({
  label,
  value,
  vocabulary,
  onChange,
}: {
  readonly label: string
  readonly value: readonly string[]
  readonly vocabulary: Vocabulary
  readonly onChange: (patterns: readonly string[]) => void
}) {
  const { t } = useTranslation('iam')
  const [search, setSearch] = useState('')
  const tree = useMemo(
    () =>
      actionTree(
        vocabulary,
        {
          everything: t('editor.everything'),
          service: (id) => serviceText(id, vocabulary.services),
          type: (id) => kindText(id),
          verb: verbText,
          tag: tagOf,
          title: withPattern,
        },
        value,
      ),
    [vocabulary, t, value],
  )
  const typed = search.trim()
  const wildcard = /[*?]/.test(typed) && /^[\w.*?-]+$/.test(typed) && !vocabulary.patterns.some(({ pattern }) => pattern === typed)
  const nodes: ActionNode[] = wildcard
    ? [
        {
          value: typed,
          title: t('editor.wildcard', { pattern: typed, count: matchCount(typed, vocabulary.actions) }),
          tag: typed,
          search: typed.toLowerCase(),
          disableCheckbox: false,
        },
        ...tree,
      ]
    : tree
  return (
    <TreeSelect<Choice[], ActionNode>
      aria-label={label}
      className="zs-full"
      treeCheckable
      // Each node is a pattern of its own.
      treeCheckStrictly
      showSearch={{
        searchValue: search,
        onSearch: setSearch,
        autoClearSearchValue: false,
        filterTreeNode: (text, node) => String(node['search']).includes(text.trim().toLowerCase()) || matchesAction(String(node.value), text),
      }}
      placeholder={t('editor.actionsPlaceholder')}
      treeNodeLabelProp="tag"
      treeDefaultExpandedKeys={['*']}
      treeData={nodes}
      value={value.map((pattern) => ({ value: pattern, label: pattern }))}
      onChange={(chosen) => onChange(withoutCovered(chosen.map((one) => one.value)))}
      listHeight={320}
      popupMatchSelectWidth={420}
    />
  )
}
