import { spawn } from 'node:child_process'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { keptPaths } from '@zhisuan/contract/agent/kept'
import { agentPaths, dialOrder, gatewayOrder, upgradeOrder } from '@zhisuan/contract/agent/node'
import { answerError, answerJson, bodyOf, Denied } from './answers.ts'
import type { Compose } from './compose.ts'
import { dial } from './dial.ts'
import { attachExec, proxyToDocker } from './docker.ts'
import { createMetrics, factsOf, type Host } from './facts.ts'
import type { Gateway } from './gateway.ts'
import type { Kept } from './kept/kept.ts'
import { allListeners } from './kept/ports.ts'
import { joinPort } from './port.ts'
import { selfTest } from './selfTest.ts'
import { upgrade, type UpgradeParts } from './upgrade.ts'

export interface HandlerParts {
  readonly host: Host
  readonly compose: Compose
  readonly gateway: Gateway
  readonly kept: Kept
  readonly upgrades: UpgradeParts
  readonly allowReboot: boolean
  readonly say: (line: string) => void
}

/** Answers what the server asks through the tunnel; nobody else reaches it. */
export function createHandler(parts: HandlerParts): (request: Http2ServerRequest, response: Http2ServerResponse) => void {
  const { host, say } = parts
  const metrics = createMetrics(host)

  const route = async (request: Http2ServerRequest): Promise<void> => {
    const { stream, method } = request
    const url = new URL(request.url, 'http://agent')
    const { pathname, searchParams } = url
    const is = (verb: string, path: string): boolean => method === verb && pathname === path
    if (pathname.startsWith(`${agentPaths.docker}/`)) return proxyToDocker(host.dockerSocket, request, request.url.slice(agentPaths.docker.length))
    if (is('GET', agentPaths.facts)) return answerJson(stream, 200, await factsOf(host))
    if (is('GET', agentPaths.metrics)) return answerJson(stream, 200, await metrics())
    if (method === 'POST' && pathname.startsWith(`${agentPaths.exec}/`))
      return attachExec(host.dockerSocket, stream, decodeURIComponent(pathname.slice(agentPaths.exec.length + 1)), searchParams.get('tty') === '1')
    if (is('GET', agentPaths.listeners)) return answerJson(stream, 200, allListeners())
    if (is('POST', agentPaths.selfTest)) return answerJson(stream, 200, await selfTest(host))
    if (is('POST', agentPaths.dial)) return answerJson(stream, 200, await dial(await bodyOf(stream, dialOrder, 4_096)))
    if (is('POST', agentPaths.port)) return joinPort(stream, Number(searchParams.get('port') ?? Number.NaN))
    if (is('PUT', agentPaths.compose)) return parts.compose.serve(stream)
    if (pathname === keptPaths.all || pathname.startsWith(`${keptPaths.all}/`)) return parts.kept.serve(request)
    if (is('GET', agentPaths.gateway)) return answerJson(stream, 200, parts.gateway.state())
    if (is('PUT', agentPaths.gateway)) {
      await parts.gateway.listen((await bodyOf(stream, gatewayOrder, 4_096)).port)
      return answerJson(stream, 200, parts.gateway.state())
    }
    if (is('POST', agentPaths.upgrade)) {
      const change = await upgrade(await bodyOf(stream, upgradeOrder, 4_096), parts.upgrades)
      // Answered first: with the change this tunnel ends.
      if (stream.closed) return change()
      stream.once('close', change)
      return answerJson(stream, 202, {})
    }
    if (is('POST', agentPaths.reboot)) {
      if (!parts.allowReboot) throw new Denied(403, 'this agent was started without --allow-reboot')
      say('the server asks for a reboot')
      spawn('systemctl', ['reboot'], { stdio: 'ignore' }).on('error', () =>
        spawn('reboot', { stdio: 'ignore' }).on('error', (error) => say(`reboot: ${error.message}`)),
      )
      return answerJson(stream, 202, {})
    }
    throw new Denied(404, `${method} ${pathname}: no such path`)
  }

  return (request, response) => {
    // A stream that breaks off has ended all that hangs on it; there is nobody to tell.
    for (const one of [request, response, request.stream]) one.on('error', () => undefined)
    route(request).catch((error: unknown) => {
      if (!(error instanceof Denied)) say(`${request.method} ${request.url}: ${error instanceof Error ? error.message : String(error)}`)
      answerError(request.stream, error)
    })
  }
}
