import { beforeAll, describe, expect, it } from 'vitest'
import type { ComputeEngine, TerminalSession } from '../compute.ts'
import { rejects } from './rejects.ts'

const mib = 2 ** 20

const patient = { timeout: 30_000, interval: 100 }

interface Place {
  readonly instances: ComputeEngine['instances']
  /** See `Traits`. */
  readonly machines: boolean
  /** Makes and starts an instance. */
  running(): Promise<string>
  run(name: string, ...command: [string, ...string[]]): Promise<{ code: number; out: string; err: string }>
}

/** What is done inside a running instance: commands, files and terminals. A part of `conformance`. */
export function commandsConform({ instances, machines, running, run }: Place): void {
  describe('in a running instance', () => {
    let name: string
    beforeAll(async () => {
      name = await running()
    })

    it('runs a command and tells its exit code and both streams', async () => {
      expect(await run(name, 'echo', 'hello', '值')).toEqual({ code: 0, out: 'hello 值\n', err: '' })
      expect(await run(name, 'false')).toEqual({ code: 1, out: '', err: '' })
      expect((await run(name, 'sh', '-c', 'exit 42')).code).toBe(42)
      expect(await run(name, 'cat', '/no/such')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('/no/such') })
      expect((await run(name, 'no-such-command')).code).toBe(127)
    })
    it('hands standard input over, byte by byte, and ends it', async () => {
      const input = Buffer.from([...Array(256).keys()])
      expect((await instances.exec(name, { command: ['cat'], input })).stdout).toEqual(input)
      expect((await instances.exec(name, { command: ['cat'] })).stdout).toEqual(Buffer.alloc(0))
    })
    it('runs a script that a shell reads from its standard input', async () => {
      const input = Buffer.from('# a comment\necho 一\n\ncat /no/such\necho two\nexit 3\necho never\n')
      const result = await instances.exec(name, { command: ['sh'], input })
      expect(result).toMatchObject({ exitCode: 3, stdout: Buffer.from('一\ntwo\n') })
      expect(result.stderr.toString()).toContain('/no/such')
    })
    it('caps output at 1 MiB and still tells the end; who listens hears all of it', async () => {
      const input = Buffer.alloc(3 * mib, 'x')
      const heard = { stdout: 0, stderr: 0 }
      const result = await instances.exec(name, { command: ['cat'], input, onOutput: (stream, { length }) => void (heard[stream] += length) })
      expect(result.stdout.length).toBe(mib)
      expect(result.exitCode).toBe(0)
      expect(heard.stderr).toBe(0)
      expect(heard.stdout).toBeGreaterThanOrEqual(mib)
    })
    it('names its operation, and is cancelled by the signal', async () => {
      const controller = new AbortController()
      const operations: string[] = []
      const call = instances.exec(
        name,
        { command: ['sleep', '4321'] },
        {
          signal: controller.signal,
          onOperation: (id) => {
            operations.push(id)
            controller.abort()
          },
        },
      )
      await rejects(call, 'cancelled')
      expect(operations).toEqual([expect.stringMatching(/./)])
    })
    it('writes files with mode and owner, and over files that are there', async () => {
      const stat = async (path: string) => (await run(name, 'stat', '-c', '%a %u %g', path)).out
      const content = Buffer.from('line\n值\n')
      await instances.writeFile(name, { path: '/root/a file', content, mode: 0o640, uid: 1000, gid: 100 })
      expect((await run(name, 'cat', '/root/a file')).out).toBe(content.toString())
      expect(await stat('/root/a file')).toBe('640 1000 100\n')
      await instances.writeFile(name, { path: '/root/a file', content: Buffer.from('x'), mode: 0o600 })
      expect((await run(name, 'cat', '/root/a file')).out).toBe('x')
      expect(await stat('/root/a file')).toBe('600 0 0\n')
      await instances.writeFile(name, { path: '/root/empty', content: Buffer.alloc(0), mode: 0o755 })
      expect(await run(name, 'cat', '/root/empty')).toEqual({ code: 0, out: '', err: '' })
    })
    it('opens a terminal of the size asked for, which can be changed', async () => {
      const terminal = await instances.terminal(name, { command: ['sh'], columns: 80, rows: 24 })
      const seen = watch(terminal)
      terminal.write(Buffer.from('stty size\r'))
      await expect.poll(seen.text, patient).toMatch(/\b24 80\b/)
      terminal.resize(111, 33)
      await expect
        .poll(() => {
          terminal.write(Buffer.from('stty size\r'))
          return seen.text()
        }, patient)
        .toMatch(/\b33 111\b/)
      terminal.write(Buffer.from('exit 7\r'))
      expect(await terminal.exit).toBe(7)
      await seen.ended
      // Too late, and harmless.
      terminal.write(Buffer.from('x'))
      terminal.resize(80, 24)
      terminal.close()
    })
    it('hangs up a terminal', async () => {
      const terminal = await instances.terminal(name, { command: ['sh'], columns: 80, rows: 24 })
      const seen = watch(terminal)
      await expect.poll(seen.text, patient).not.toBe('')
      terminal.close()
      terminal.close()
      await seen.ended
      expect(await terminal.exit).not.toBe(0)
    })

    if (machines) {
      it('gives a command its environment and folder, and a large input', async () => {
        const result = await instances.exec(name, {
          command: ['sh', '-c', 'pwd; echo $GREETING; wc -c'],
          env: { GREETING: 'hi' },
          cwd: '/tmp',
          input: Buffer.alloc(5 * mib),
        })
        expect(result.stdout.toString()).toMatch(new RegExp(`^/tmp\\nhi\\n\\s*${5 * mib}\\n$`))
      })
      it('does not wait for what a command left in the background', async () => {
        const result = await instances.exec(name, { command: ['sh', '-c', 'sleep 1234 </dev/null >/dev/null 2>&1 & echo done'] })
        expect(result.stdout.toString()).toBe('done\n')
      })
      it('lets who listens hear it as it comes', async () => {
        const [heard, go] = [Promise.withResolvers<string>(), new AbortController()]
        const call = instances.exec(
          name,
          { command: ['sh', '-c', 'echo first; sleep 6789'], onOutput: (stream, data) => heard.resolve(`${stream} ${data.toString()}`) },
          { signal: go.signal },
        )
        call.catch(() => undefined)
        expect(await heard.promise).toBe('stdout first\n')
        go.abort()
        await rejects(call, 'cancelled')
      })
      it('keeps the streams whole when both are full', async () => {
        const script = 'i=0; while [ $i -lt 2000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done'
        const result = await instances.exec(name, { command: ['sh', '-c', script] })
        const lines = (word: string) => Array.from({ length: 2000 }, (_, index) => `${word}${index}\n`).join('')
        expect(result.stdout.toString()).toBe(lines('out'))
        expect(result.stderr.toString()).toBe(lines('err'))
      })
      it('ends the process of a cancelled command', async () => {
        const controller = new AbortController()
        const call = instances.exec(name, { command: ['sleep', '5432'] }, { signal: controller.signal })
        const left = async () => (await run(name, 'ps', '-o', 'args')).out.includes('sleep 5432')
        call.catch(() => undefined)
        await expect.poll(left, patient).toBe(true)
        controller.abort()
        await rejects(call, 'cancelled')
        await expect.poll(left, patient).toBe(false)
      })
      it('ends all that a cancelled command has started, and nothing else', async () => {
        const [one, other] = [new AbortController(), new AbortController()]
        const begin = (script: string, { signal }: AbortController) => {
          const call = instances.exec(name, { command: ['sh'], input: Buffer.from(script) }, { signal })
          call.catch(() => undefined)
          return call
        }
        const left = async () => [...new Set((await run(name, 'ps', '-o', 'args')).out.match(/sleep 700\d/g))].sort()
        const call = begin('sleep 7001 &\nsh -c "sleep 7002 & sleep 7003"\n', one)
        begin('sleep 7004\ntrue\n', other)
        await expect.poll(left, patient).toEqual(['sleep 7001', 'sleep 7002', 'sleep 7003', 'sleep 7004'])
        one.abort()
        await rejects(call, 'cancelled')
        expect(await left()).toEqual(['sleep 7004'])
        other.abort()
        await expect.poll(left, patient).toEqual([])
      })
      it('tells a command that was killed by its signal', async () => {
        expect((await run(name, 'sh', '-c', 'kill -9 $$')).code).toBe(137)
      })
      it('sends SIGHUP when a terminal is closed', async () => {
        const script = 'trap "echo hung >/tmp/hung; exit" HUP; echo ready; while :; do sleep 0.05; done'
        const terminal = await instances.terminal(name, { command: ['sh', '-c', script], columns: 80, rows: 24 })
        await expect.poll(watch(terminal).text, patient).toContain('ready')
        terminal.close()
        await expect.poll(async () => (await run(name, 'cat', '/tmp/hung')).out, patient).toBe('hung\n')
      })
      it('loses nothing of a long terminal output, however slowly it is read', async () => {
        // LXD drops what a process prints right before it ends; this one waits to be told to.
        const script = 'i=0; while [ $i -lt 20000 ]; do echo row$i; i=$((i+1)); done; read end; exit 3'
        const terminal = await instances.terminal(name, { command: ['sh', '-c', script], columns: 80, rows: 24 })
        const rows = Array.from({ length: 20_000 }, (_, index) => `row${index}\r\n`).join('')
        let text = ''
        for await (const part of terminal.output) {
          text += part.toString()
          if (text.length === rows.length) terminal.write(Buffer.from('\r'))
          await new Promise((resolve) => setImmediate(resolve))
        }
        expect(text.slice(0, rows.length) === rows).toBe(true)
        expect(await terminal.exit).toBe(3)
      })
      it('ends a terminal whose instance is killed', async () => {
        const other = await running()
        const terminal = await instances.terminal(other, { command: ['sh'], columns: 80, rows: 24 })
        const seen = watch(terminal)
        await instances.stop(other, { force: true })
        await seen.ended
        expect(await terminal.exit).not.toBe(0)
      })
    }
  })
}

/** Reads a terminal's output as it comes. */
function watch(terminal: TerminalSession): { text: () => string; ended: Promise<void> } {
  let text = ''
  const ended = (async () => {
    for await (const part of terminal.output) text += part.toString()
  })()
  return { text: () => text, ended }
}
