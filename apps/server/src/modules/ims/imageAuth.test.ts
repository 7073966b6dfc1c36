import { expect, it } from 'vitest'
import { accountFor } from './imageAuth.ts'

it.each([
  ['the platform’s on its own node', { owner: null, node: null, pull: null }, true],
  ['the platform’s on a node of an organisation', { owner: null, node: 'one', pull: null }, false],
  ['the platform’s on its own node, for an organisation', { owner: null, node: null, pull: 'one' }, true],
  ['an organisation’s on its own node', { owner: 'one', node: 'one', pull: 'one' }, true],
  ['an organisation’s on its own node, ordered by the platform', { owner: 'one', node: 'one', pull: null }, true],
  ['an organisation’s on the platform’s node, for itself', { owner: 'one', node: null, pull: 'one' }, true],
  ['an organisation’s on the platform’s node, for the platform', { owner: 'one', node: null, pull: null }, false],
  ['an organisation’s on the node of another', { owner: 'one', node: 'other', pull: 'one' }, false],
] as const)('an account is told to a node of whose it is: %s', (_, of, isTold) => expect(accountFor('account', of)).toBe(isTold ? 'account' : null))
