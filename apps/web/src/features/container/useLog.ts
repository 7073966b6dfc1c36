import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useEffect, useReducer, useState } from 'react'
import { request, toApiError, type ApiError } from '../../api/client.ts'
import { pause } from '../../api/pause.ts'
import { followLog, linesKept, type FollowState, type LogLine, type LogSocket } from './logFollow.ts'
import { withLines, type ShownLine } from './logLines.ts'

/** A flood of lines is drawn so often, and no more. */
const drawMs = 100

interface Log {
  readonly lines: readonly ShownLine[]
  readonly state: FollowState
  readonly error: ApiError | null
  /** Follows it once more, after it ended or was refused. */
  readonly again: () => void
}

/** The log of a container as it is printed. A container that was started again is followed again. */
export function useLog({ id, started_at, status, container_id }: Pick<Container, 'id' | 'started_at' | 'status' | 'container_id'>): Log {
  const [lines, setLines] = useState<readonly ShownLine[]>([])
  const [{ state, error }, setState] = useState<{ state: FollowState; error: ApiError | null }>({ state: 'connecting', error: null })
  const [attempt, again] = useReducer((count: number) => count + 1, 0)
  const running = status === 'running'
  useEffect(() => {
    const end = new AbortController()
    let fresh: LogLine[] = []
    let anew = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const draw = (): void => {
      timer = undefined
      const [come, whole] = [fresh, anew]
      fresh = []
      anew = false
      setLines((now) => withLines(whole ? [] : now, come))
    }
    void followLog({
      link: async (signal) => (await request(containers.logLink, { params: { id }, body: { how: 'follow' }, signal })).path,
      dial,
      signal: end.signal,
      onStart: () => {
        fresh = []
        anew = true
      },
      onLines: (more) => {
        fresh = [...fresh, ...more]
        // A tab that nobody looks at draws seldom.
        if (fresh.length > 2 * linesKept) fresh = fresh.slice(-linesKept)
        timer ??= setTimeout(draw, drawMs)
      },
      onState: (next, thrown) => setState({ state: next, error: thrown === null ? null : toApiError(thrown) }),
      temporary: (thrown) => {
        const { status: answered } = toApiError(thrown)
        return answered === 0 || answered === 429 || answered >= 500
      },
      pause,
    })
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [id, started_at, container_id, running, attempt])
  return { lines, state, error, again }
}

function dial(path: string): LogSocket {
  const target = new URL(path, location.href)
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(target)
  const heard: LogSocket = { onopen: null, onmessage: null, onclose: null, close: () => socket.close() }
  socket.onopen = () => heard.onopen?.()
  socket.onmessage = (event) => heard.onmessage?.(event)
  socket.onclose = (event) => heard.onclose?.(event)
  return heard
}
