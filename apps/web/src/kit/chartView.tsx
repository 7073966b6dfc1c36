import dayjs from 'dayjs'
import { LineChart, type LineSeriesOption } from 'echarts/charts'
import {
  AriaComponent,
  GridComponent,
  TooltipComponent,
  type AriaComponentOption,
  type GridComponentOption,
  type TooltipComponentOption,
} from 'echarts/components'
import { connect, init, use, type ComposeOption, type ECharts } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'
import { scaleTo } from './chartScale.ts'
import { isLone, summarise } from './chartSeries.ts'
import { nothing } from './format.ts'
import type { MetricChartProps } from './MetricChart.tsx'
import './chart.css'

use([LineChart, GridComponent, TooltipComponent, AriaComponent, SVGRenderer])

type Option = ComposeOption<LineSeriesOption | GridComponentOption | TooltipComponentOption | AriaComponentOption>

/** An axis longer than this tells days, not hours. */
const daysFromMs = 2 * 24 * 3_600_000

/** The keys in chart.css have the same, in the same order. */
const colours = ['#1d4fb8', '#c2570c', '#0f7a52', '#7c3fb8']

export default function ChartView({ series, format, from, until, max, base = 1000, group, label }: MetricChartProps & { readonly label: string }) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<ECharts>(null)

  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const made = init(element, null, { renderer: 'svg' })
    chart.current = made
    if (group !== undefined) {
      made.group = group
      connect(group)
    }
    let scheduled = 0
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(scheduled)
      scheduled = requestAnimationFrame(() => made.resize())
    })
    observer.observe(element)
    return () => {
      cancelAnimationFrame(scheduled)
      observer.disconnect()
      made.dispose()
      chart.current = null
    }
  }, [group])

  // What changes is set on the chart that stands: a new one each refresh would flicker and lose the pointer.
  useEffect(() => {
    const highest = Math.max(0, ...summarise(series).map((one) => one.max ?? 0))
    const scale = max === undefined ? scaleTo(highest, base) : { max, step: max / 4 }
    const option: Option = {
      animation: false,
      color: colours,
      aria: { enabled: true, label: { description: label } },
      grid: { left: 8, right: 16, top: 14, bottom: 4, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
      tooltip: {
        trigger: 'axis',
        confine: true,
        transitionDuration: 0,
        axisPointer: { type: 'line', lineStyle: { color: '#5b6782' } },
        // Names come from the locale and values from the formatter: nothing here is a person's text.
        valueFormatter: (value) => (typeof value === 'number' ? format(value) : nothing),
      },
      xAxis: {
        type: 'time',
        min: from,
        max: until,
        axisLabel: { color: '#5b6782', hideOverlap: true, formatter: (at: number) => dayjs(at).format(until - from > daysFromMs ? 'MM-DD' : 'HH:mm') },
        axisLine: { lineStyle: { color: '#c9d1e0' } },
        axisTick: { lineStyle: { color: '#c9d1e0' } },
        axisPointer: { label: { formatter: ({ value }) => dayjs(Number(value)).format('MM-DD HH:mm:ss') } },
        minInterval: 60_000,
      },
      yAxis: {
        type: 'value',
        min: 0,
        max: scale.max,
        interval: scale.step,
        axisLabel: { color: '#5b6782', formatter: (value: number) => format(value) },
        splitLine: { lineStyle: { color: '#e4e8f1' } },
      },
      series: series.map(({ name, points }) => ({
        type: 'line',
        name,
        data: points.map(([at, value]) => [at, value]),
        showAllSymbol: true,
        symbolSize: 5,
        symbol: (_value: unknown, { dataIndex }: { dataIndex: number }) => (isLone(points, dataIndex) ? 'circle' : 'none'),
        connectNulls: false,
        lineStyle: { width: 1.5 },
        ...(series.length === 1 && { areaStyle: { opacity: 0.08 } }),
      })),
    }
    chart.current?.setOption(option, { replaceMerge: ['series'], lazyUpdate: true })
  }, [base, format, from, label, max, series, until])

  return <div ref={place} className="zs-chart-canvas" role="img" aria-label={label} />
}
