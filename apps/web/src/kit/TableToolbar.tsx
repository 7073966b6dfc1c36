import ReloadOutlined from '@ant-design/icons/es/icons/ReloadOutlined'
import SettingOutlined from '@ant-design/icons/es/icons/SettingOutlined'
import AutoComplete from 'antd/es/auto-complete'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Input from 'antd/es/input'
import Popover from 'antd/es/popover'
import Select from 'antd/es/select'
import Tooltip from 'antd/es/tooltip'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { notify } from '../api/notify.ts'
import type { ColumnSettings } from './columnSettings.ts'
import { clearable } from './clearable.tsx'
import type { Filter } from './filters.ts'
import { usePopupFocus } from './focus.ts'
import * as format from './format.ts'
import { readSearches, rememberSearch } from './recentSearches.ts'
import './table.css'

/** What stands above a list: what can be made on the left, how to find something on the right. */
export function TableToolbar({
  list,
  filters,
  values,
  onFilter,
  onClear,
  onRefresh,
  refreshing,
  staleSince,
  columnSettings,
  children,
}: {
  readonly list: string
  readonly filters: readonly Filter[]
  readonly values: Readonly<Record<string, string>>
  readonly onFilter: (values: Readonly<Record<string, string>>) => void
  readonly onClear: () => void
  readonly onRefresh: () => void
  readonly refreshing: boolean
  /** Since when the refresh fails, while old rows are still shown. */
  readonly staleSince: number | null
  readonly columnSettings: ColumnSettings
  readonly children?: ReactNode
}) {
  const { t } = useTranslation('kit')
  const { onOpenChange } = usePopupFocus()
  const filtered = filters.some((filter) => values[filter.key] !== undefined)
  return (
    <div className="zs-toolbar">
      <div className="zs-buttons">{children}</div>
      <div className="zs-buttons zs-toolbar-end">
        {staleSince !== null && (
          <span className="zs-stale" role="status">
            {t('table.stale', { time: format.time(staleSince) })}
          </span>
        )}
        {filters.map((filter) =>
          filter.kind === 'keyword' ? (
            <KeywordFilter
              key={filter.key}
              list={filter.key === 'keyword' ? list : `${list}.${filter.key}`}
              label={filter.label}
              value={values[filter.key] ?? ''}
              onSearch={(text) => onFilter({ [filter.key]: text })}
            />
          ) : (
            <Select
              key={filter.key}
              aria-label={filter.label}
              placeholder={filter.label}
              allowClear
              // Things of the person's own, such as instances, can be many.
              {...(filter.options.length > 20 && { showSearch: true, optionFilterProp: 'label' })}
              value={values[filter.key] ?? null}
              options={filter.options.map(({ value, label }) => ({ value, label }))}
              onChange={(value: string | null | undefined) => onFilter({ [filter.key]: value ?? '' })}
              popupMatchSelectWidth={false}
              className="zs-filter-select"
            />
          ),
        )}
        {filtered && (
          <Button type="link" size="small" onClick={onClear}>
            {t('table.clearFilters')}
          </Button>
        )}
        <Tooltip title={t('table.refresh')}>
          <Button icon={<ReloadOutlined spin={refreshing} />} aria-label={t('table.refresh')} onClick={onRefresh} />
        </Tooltip>
        {/* Beside its button, where the Tab key goes next, and not at the end of the page. */}
        <Popover
          trigger="click"
          placement="bottomRight"
          content={<ColumnChoices settings={columnSettings} />}
          onOpenChange={onOpenChange}
          getPopupContainer={(button) => button.parentElement ?? document.body}
        >
          <Button icon={<SettingOutlined />} aria-label={t('table.columns')} title={t('table.columns')} />
        </Popover>
      </div>
    </div>
  )
}

function ColumnChoices({ settings }: { readonly settings: ColumnSettings }) {
  const { t } = useTranslation('kit')
  return (
    <div className="zs-columns" role="group" aria-label={t('table.columns')}>
      {settings.all.map((column) => (
        <Checkbox key={column.key} checked={column.shown} disabled={column.locked} onChange={(event) => settings.onChange(column.key, event.target.checked)}>
          {column.title}
        </Checkbox>
      ))}
      <Button type="link" size="small" onClick={settings.onReset}>
        {t('table.resetColumns')}
      </Button>
    </div>
  )
}

/** As many as `keyword` of contract/validation.ts takes, which would bring zod along. */
const mostCharacters = 128

function KeywordFilter({
  list,
  label,
  value,
  onSearch,
}: {
  readonly list: string
  readonly label: string
  readonly value: string
  readonly onSearch: (text: string) => void
}) {
  const { t } = useTranslation('kit')
  const [text, setText] = useState(value)
  const [recent, setRecent] = useState(() => readSearches(list))
  useEffect(() => setText(value), [value])
  const go = (next: string): void => {
    const trimmed = next.trim()
    setText(trimmed)
    if (trimmed.length > mostCharacters) {
      notify('error', t('table.keywordTooLong', { limit: mostCharacters, length: trimmed.length }))
      return
    }
    if (trimmed !== '') setRecent(rememberSearch(list, trimmed))
    if (trimmed !== value) onSearch(trimmed)
  }
  return (
    <AutoComplete
      className="zs-filter-keyword"
      value={text}
      options={text === '' ? recent.map((search) => ({ value: search })) : []}
      onChange={(next: string) => setText(next)}
      onSelect={(chosen: string) => go(chosen)}
    >
      <Input.Search
        aria-label={label}
        placeholder={label}
        allowClear={clearable}
        onSearch={go}
        {...(text.trim().length > mostCharacters && { status: 'error', 'aria-invalid': true })}
      />
    </AutoComplete>
  )
}
