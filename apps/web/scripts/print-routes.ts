// Prints the route table for checks: path, group, roles, and whether the page is built.
import { routes } from '../src/routes.ts'

for (const { path, group, access, page } of routes) {
  const roles = typeof access === 'string' ? access : access.join(',')
  console.log([path, group, roles, page === undefined ? 'pending' : 'built'].join('\t'))
}
