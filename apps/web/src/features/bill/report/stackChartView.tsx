import { BarChart, type BarSeriesOption } from 'echarts/charts'
import {
  AriaComponent,
  GridComponent,
  TooltipComponent,
  type AriaComponentOption,
  type GridComponentOption,
  type TooltipComponentOption,
} from 'echarts/components'
import { init, use, type ComposeOption, type ECharts } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'
import { toDecimal } from '@zhisuan/contract/bill/money'
import { nothing, rate } from '../../../kit/format.ts'
import type { StackChartProps } from './StackChart.tsx'
import { colourOf, heightOf } from './stacks.ts'
import './report.css'

use([BarChart, GridComponent, TooltipComponent, AriaComponent, SVGRenderer])

type Option = ComposeOption<BarSeriesOption | GridComponentOption | TooltipComponentOption | AriaComponentOption>

export default function StackChartView({ label, places, stacks, format }: StackChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<ECharts>(null)

  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const made = init(element, null, { renderer: 'svg' })
    chart.current = made
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
  }, [])

  useEffect(() => {
    const option: Option = {
      animation: false,
      aria: { enabled: true, label: { description: label } },
      // The last label is as wide to the right of its bar.
      grid: { left: 8, right: 36, top: 14, bottom: 4, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
      tooltip: {
        trigger: 'axis',
        confine: true,
        transitionDuration: 0,
        axisPointer: { type: 'shadow' },
        // Products are called as people called them: their names are text and never markup.
        renderMode: 'richText',
      },
      xAxis: {
        type: 'category',
        data: [...places],
        axisLabel: { color: '#5b6782', hideOverlap: true },
        axisLine: { lineStyle: { color: '#c9d1e0' } },
        axisTick: { show: false },
      },
      yAxis: {
        type: 'value',
        min: 0,
        axisLabel: { color: '#5b6782', formatter: (value: number) => rate(value.toFixed(8)) },
        splitLine: { lineStyle: { color: '#e4e8f1' } },
      },
      series: stacks.map((stack, index) => ({
        type: 'bar',
        stack: 'all',
        name: stack.name,
        data: stack.values.map((value) => (value === null ? '-' : heightOf(value))),
        barMaxWidth: 28,
        // What is written is the amount itself, not the height that was made of it.
        tooltip: {
          valueFormatter: (_value, index) => {
            const minor = stack.values[index]
            return minor == null ? nothing : format(toDecimal(minor))
          },
        },
        itemStyle: { color: colourOf(stack, index) },
      })),
    }
    chart.current?.setOption(option, { replaceMerge: ['series'], lazyUpdate: true })
  }, [format, label, places, stacks])

  return <div ref={place} className="br-canvas" role="img" aria-label={label} />
}
