import { lazy, Suspense } from 'react'
import { colourOf, type Stack } from './stacks.ts'
import './report.css'

export interface StackChartProps {
  /** What it shows, in a sentence: for those who do not see it. */
  readonly label: string
  /** Under each bar. */
  readonly places: readonly string[]
  readonly stacks: readonly Stack[]
  /** Writes the amount of a bar. */
  readonly format: (amount: string) => string
  /** Said in its place where there is nothing to draw. */
  readonly none: string
}

const View = lazy(() => import('./stackChartView.tsx'))

/** Bars on top of each other, with what their colours mean. Its place does not move while it loads. */
export function StackChart(props: StackChartProps) {
  const { stacks, none } = props
  const empty = stacks.every(({ values }) => values.every((value) => value === null || value === 0n))
  return (
    <figure style={{ margin: 0 }}>
      <div className="br-chart">
        {empty ? (
          <div className="br-none">{none}</div>
        ) : (
          <Suspense fallback={null}>
            <View {...props} />
          </Suspense>
        )}
      </div>
      {!empty && (
        <ul className="br-legend">
          {stacks.map((stack, index) => (
            <li key={stack.name}>
              <span className="br-key" style={{ background: colourOf(stack, index) }} aria-hidden="true" />
              {stack.name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  )
}
