/** For tests of what holds on to rules, apart from the server's own. */
export { createRules } from './rules/rules.ts'
