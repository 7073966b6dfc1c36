import { curvesMost } from '@zhisuan/contract/omc/stats'
import { edges } from '@zhisuan/contract/ecrm/edge'
import Checkbox from 'antd/es/checkbox'
import Segmented from 'antd/es/segmented'
import Select from 'antd/es/select'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { rangeText } from './Explorer.tsx'
import { NodeCharts } from './NodeCharts.tsx'
import './operations.css'

const ranges = [60, 360, 1_440, 10_080, 43_200] as const
/** How busy nodes were: those that are chosen, or those that are busiest now. */
export function NodeCurves() {
  const { t } = useTranslation('operations')
  const [search, setSearch] = useSearchParams()
  const minutes = ranges.find((range) => String(range) === search.get('minutes')) ?? 60
  const compare = search.get('compare') === 'true'
  const chosen = (search.get('nodes') ?? '').split(',').filter((id) => id !== '')
  const set = (key: string, value: string): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: true },
    )
  const { data: all } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  return (
    <section aria-label={t('stats.curves')}>
      <div className="zs-bar om-head">
        <h2 className="zs-title">{t('stats.curves')}</h2>
        <Segmented
          aria-label={t('range.label')}
          value={minutes}
          options={ranges.map((value) => ({ value, label: rangeText(t, value) }))}
          onChange={(value) => set('minutes', String(value))}
        />
        <Select<string[]>
          className="om-nodes"
          mode="multiple"
          allowClear
          maxCount={curvesMost}
          maxTagCount="responsive"
          aria-label={t('stats.chosen')}
          placeholder={t('stats.busiest')}
          value={chosen}
          showSearch={{ optionFilterProp: 'label' }}
          options={(all?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(ids) => set('nodes', ids.join(','))}
        />
        <Checkbox checked={compare} onChange={({ target }) => set('compare', target.checked ? 'true' : '')}>
          {t('stats.compare')}
        </Checkbox>
      </div>
      <NodeCharts nodeIds={chosen} minutes={minutes} compare={compare} />
    </section>
  )
}
