import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { Link } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { summarise, type ChartSeries } from '../../../kit/chartSeries.ts'
import * as format from '../../../kit/format.ts'
import { curveBox, curvePath } from './curve.ts'
import { vmSeries, type VmMetrics } from './vmSeries.ts'
import '../nextstack.css'

const minutes = 15

/** What it used in the last minutes; undefined while it is off. */
export function useVmLoad(vm: Vm): { readonly data: VmMetrics | undefined; readonly until: number } {
  const { data, dataUpdatedAt } = useCall(
    vms.metrics,
    { params: { id: vm.id }, query: { minutes } },
    { silent: true, enabled: vm.status === 'running', refreshMs: (metrics) => (metrics?.interval_seconds ?? 5) * 1000 },
  )
  return { data: vm.status === 'running' ? data : undefined, until: dataUpdatedAt }
}

/** How busy it is, at a glance: the newest values, and how they came about. */
export function VmLoad({ vm, load: { data, until } }: { readonly vm: Vm; readonly load: ReturnType<typeof useVmLoad> }) {
  const { t } = useTranslation('nextstack')
  if (vm.status !== 'running') return null
  const series = vmSeries(data, {
    cpu: t('metrics.cpu'),
    memory: t('metrics.memory'),
    disk: t('metrics.disk'),
    received: t('metrics.received'),
    sent: t('metrics.sent'),
  })
  const common = { from: until - minutes * 60_000, until }
  return (
    <Link to="?tab=metrics" className="ns-load">
      <Curve {...common} series={series.cpu} max={1} said={format.percent} />
      <Curve {...common} series={series.memory} max={vm.memory_bytes} said={format.bytes} />
      <Curve {...common} series={[series.network[0] ?? { name: '', points: [] }]} max={null} said={format.bytesPerSecond} />
      <Curve {...common} series={[series.network[1] ?? { name: '', points: [] }]} max={null} said={format.bytesPerSecond} />
    </Link>
  )
}

/** @param max what fills the box; null: as much as there ever was */
function Curve({
  series,
  from,
  until,
  max,
  said,
}: {
  readonly series: readonly ChartSeries[]
  readonly from: number
  readonly until: number
  readonly max: number | null
  readonly said: (value: number) => string
}) {
  const [line] = summarise(series)
  if (line === undefined) return null
  return (
    <span className="ns-load-one">
      <span className="zs-soft">{line.name}</span> <strong className="zs-number">{line.latest === null ? format.nothing : said(line.latest)}</strong>
      <svg viewBox={`0 0 ${curveBox.width} ${curveBox.height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={curvePath(series[0]?.points ?? [], { from, until, max: max ?? line.max ?? 0 })} />
      </svg>
    </span>
  )
}
