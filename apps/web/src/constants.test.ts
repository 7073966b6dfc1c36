import { constants } from '@zhisuan/contract/constants'
import { describe, expect, it } from 'vitest'

const styles: Readonly<Record<string, string>> = import.meta.glob('./**/*.css', { query: '?raw', import: 'default', eager: true })
const sources: Readonly<Record<string, string>> = import.meta.glob('./**/*.tsx', { query: '?raw', import: 'default', eager: true })

describe('what section 9 says of sizes', () => {
  it('is said by styles in its numbers: the console is 1200 px at least, and mobile below 992 px', () => {
    expect(styles['./layout/frame.css']).toMatch(new RegExp(`\\.frame-console \\{\\s*min-width: ${constants.consoleMinWidthPx}px;`))
    const below = Object.entries(styles).flatMap(([file, css]) =>
      [...css.matchAll(/@media \(max-width: (\d+)(?:\.\d+)?px\)/g)].map(([, px]) => ({ file, px: Number(px) })),
    )
    expect(below.length).toBeGreaterThan(10)
    expect(below.filter(({ px }) => px > 900 && px < constants.consoleMinWidthPx && px !== constants.mobileBelowPx - 1)).toEqual([])
  })

  it('is small for tables and tabs', () => {
    const used = Object.entries(sources).flatMap(([file, code]) =>
      [...code.matchAll(/<(Table|Tabs)(?:<\w+>)?\s([^]*?)(?:\/>|>\s)/g)].map(([, component = '', props = '']) => ({ file, component, props })),
    )
    expect(used.length).toBeGreaterThan(20)
    expect(used.filter(({ props }) => !props.includes('size="small"')).map(({ file, component }) => `${file}: ${component}`)).toEqual([])
  })
})
