import type { Http2ServerResponse } from 'node:http2'
import { agentPaths } from '@zhisuan/contract/agent/node'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { EngineError } from '@zhisuan/engines/errors'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AgentError } from '../../../platform/tunnel/tunnel.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { someNode } from '../testing.ts'
import { dockerTroubleOf } from './docker.follow.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

it('a node whose Docker stops is told at once, with the reason, and that it is back', async () => {
  const { token } = await someone(app)
  /** What the agent says where it does not reach Docker; null: it does. */
  let refusal: string | null = null
  const streams: Http2ServerResponse[] = []
  const node = await someNode(app, token, {
    answers(request, response) {
      if (request.url?.startsWith(`${agentPaths.docker}/`) !== true) return false
      if (refusal !== null) response.writeHead(502).end(JSON.stringify({ message: refusal }))
      else if (request.url.endsWith('/_ping')) response.writeHead(200, { 'api-version': '1.41' }).end()
      else {
        response.writeHead(200)
        response.write('\n')
        streams.push(response)
      }
      return true
    },
  })
  const trouble = async () => (await call(app, edges.get, { token, params: { id: node.edge.id } })).docker_trouble
  await vi.waitFor(() => expect(streams).toHaveLength(1))
  expect(await trouble()).toBeNull()

  refusal = 'docker: connect ENOENT /var/run/docker.sock'
  streams.pop()?.end()
  await vi.waitFor(async () => expect(await trouble()).toBe('missing'))
  expect((await call(app, edges.list, { token, query: {} })).items).toMatchObject([{ status: 'online', docker_trouble: 'missing' }])

  refusal = null
  await vi.waitFor(async () => expect(await trouble()).toBeNull())
  // Of a node that is away nothing is said about its Docker.
  refusal = 'docker: connect ECONNREFUSED /var/run/docker.sock'
  streams.pop()?.end()
  await vi.waitFor(async () => expect(await trouble()).toBe('stopped'))
  node.stop()
  await vi.waitFor(async () => expect(await trouble()).toBeNull())
})

it.each([
  ['docker: connect ENOENT /var/run/docker.sock', 'missing'],
  ['docker: connect ECONNREFUSED /var/run/docker.sock', 'stopped'],
  ['docker: socket hang up', 'stopped'],
  ['docker: connect EACCES /var/run/docker.sock', 'denied'],
  ['/events: the answer broke off', null],
])('%s means %s', (message, trouble) => expect(dockerTroubleOf(new EngineError('unreachable', message))).toBe(trouble))

it('a tunnel that breaks says nothing about Docker', () => {
  const cause = new AgentError('offline', 'the tunnel broke')
  expect(dockerTroubleOf(new EngineError('unreachable', cause.message, { cause }))).toBeNull()
})
