// Prints the route table for checks: path, group, roles, whether the page is built, and its title.
import titles from '../src/locales/zh/routes.ts'
import { routes } from '../src/routes.ts'

for (const { path, group, access, pending, title } of routes) {
  const roles = typeof access === 'string' ? access : access.join(',')
  console.log([path, group, roles, pending === true ? 'pending' : 'built', titles[title]].join('\t'))
}
