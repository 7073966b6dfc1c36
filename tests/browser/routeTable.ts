import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A row of the console's route table. */
export interface Row {
  readonly path: string
  readonly group: string
  /** `public`, `all`, or the roles. */
  readonly roles: readonly string[]
  readonly built: boolean
  readonly title: string
  /** Whether it stands in a menu. */
  readonly menu: boolean
  /** The call that it is of no use without. */
  readonly asks: string | null
}

/** As the console prints it of itself: importing the table would bring the sources of every page along. */
export const table: readonly Row[] = execFileSync(process.execPath, [fileURLToPath(new URL('../../apps/web/scripts/print-routes.ts', import.meta.url))], {
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .map((line) => {
    const [path = '', group = '', roles = '', built, title = '', kind, asks = ''] = line.split('\t')
    return { path, group, roles: roles.split(','), built: built === 'built', title, menu: kind === 'menu', asks: asks === '' ? null : asks }
  })

/** Whether somebody who is signed in may open it. */
export const mayOpen = (row: Row, roles: readonly string[]): boolean =>
  row.roles.includes('public') || row.roles.includes('all') || row.roles.some((role) => roles.includes(role))

/**
 * Built pages that need no parameter, for somebody with these roles. The stage has no OpenStack, so that pages of the
 * second family all show the same panel there: one of them stands for them.
 */
export const pagesFor = (roles: readonly string[]): readonly string[] =>
  table
    .filter((row) => row.built && !row.path.includes('{') && mayOpen(row, roles) && (row.group !== 'compute' || row.path === '/instance'))
    .map(({ path }) => path)

/** Some pages at a time, named by the first of them: so no test grows with the whole console, and none signs in for a single page. */
export function someAtATime(paths: readonly string[], atATime = 6): readonly (readonly [name: string, paths: readonly string[]])[] {
  const neighbours = Object.values(Object.groupBy(paths, (path) => path.split('/')[1] ?? '')).flatMap((some = []) => some)
  return Array.from({ length: Math.ceil(neighbours.length / atATime) }, (_, index) => neighbours.slice(index * atATime, (index + 1) * atATime)).map(
    (some) => [`from ${some[0]} on`, some] as const,
  )
}
