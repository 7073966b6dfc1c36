// Prints the route table for checks: path, group, roles, whether the page is built, its title, its kind, and the call that it is of no use without.
import titles from '../src/locales/zh/routes.ts'
import { routes } from '../src/routes.ts'

for (const { path, group, access, pending, title, kind, asks } of routes) {
  const roles = typeof access === 'string' ? access : access.join(',')
  console.log([path, group, roles, pending === true ? 'pending' : 'built', titles[title], kind, asks ?? ''].join('\t'))
}
