import { expect, it } from 'vitest'
import { childPath, cleanPath, modeText, pathParts } from './directoryPath.ts'

it.each([
  ['', '/'],
  ['/', '/'],
  ['etc//nginx/', '/etc/nginx'],
  ['/a/./b/../c', '/a/c'],
  ['/../..', '/'],
])('%s is the directory %s', (text, path) => expect(cleanPath(text)).toBe(path))

it('leads into directories and out of them', () => {
  expect(childPath('/', 'etc')).toBe('/etc')
  expect(childPath('/etc', 'nginx')).toBe('/etc/nginx')
  expect(pathParts('/etc/nginx')).toEqual([
    { name: '/', path: '/' },
    { name: 'etc', path: '/etc' },
    { name: 'nginx', path: '/etc/nginx' },
  ])
  expect(pathParts('/')).toEqual([{ name: '/', path: '/' }])
})

it('writes rights as people read them', () => {
  expect(modeText('0755')).toBe('rwxr-xr-x')
  expect(modeText('644')).toBe('rw-r--r--')
  expect(modeText('?')).toBe('?')
})
