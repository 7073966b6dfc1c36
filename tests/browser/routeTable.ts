import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A row of the console's route table. */
export interface Row {
  readonly path: string
  /** `public`, `all`, or the roles. */
  readonly roles: readonly string[]
  readonly built: boolean
  readonly title: string
}

/** As the console prints it of itself: importing the table would bring the sources of every page along. */
export const table: readonly Row[] = execFileSync(process.execPath, [fileURLToPath(new URL('../../apps/web/scripts/print-routes.ts', import.meta.url))], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((line) => {
    const [path = '', , roles = '', built, title = ''] = line.split('\t')
    return { path, roles: roles.split(','), built: built === 'built', title }
  })

/** Whether somebody who is signed in may open it. */
export const mayOpen = (row: Row, roles: readonly string[]): boolean => row.roles.includes('public') || row.roles.includes('all') || row.roles.some((role) => roles.includes(role))

/** Built pages that need no parameter, for somebody with these roles. */
export const pagesFor = (roles: readonly string[]): readonly string[] => table.filter((row) => row.built && !row.path.includes('{') && mayOpen(row, roles)).map(({ path }) => path)

/** These pages by the first part of their path, some at a time: so no test grows with the whole console, and two may share them. */
export function byGroup(paths: readonly string[], atATime = 6): readonly (readonly [group: string, paths: readonly string[]])[] {
  return Object.entries(Object.groupBy(paths, (path) => `/${path.split('/')[1] ?? ''}`)).flatMap(([group, some = []]) =>
    Array.from({ length: Math.ceil(some.length / atATime) }, (_, index) => [`${group} ${index + 1}`, some.slice(index * atATime, (index + 1) * atATime)] as const),
  )
}
