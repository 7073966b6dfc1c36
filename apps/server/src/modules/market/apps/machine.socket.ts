import { Duplex } from 'node:stream'
import { framesTaken, type Output } from '@zhisuan/engines/docker/frames'
import { through } from '@zhisuan/engines/docker/transport'
import type { Docker } from '@zhisuan/engines/docker/types'
import { connectTo } from '../relay.ts'

/**
 * A connection to a port in a machine, as Node's HTTP client takes one: what is executed there says on its output what the
 * port says. What the program complains of ends it, as a connection that breaks off.
 */
export class MachineSocket extends Duplex {
  readonly #stream: Duplex
  #wanted: (() => void) | null = null
  #idle: NodeJS.Timeout | undefined

  private constructor(stream: Duplex) {
    super({ allowHalfOpen: false })
    this.#stream = stream
    stream.on('error', (error) => this.destroy(error))
    void this.#take()
  }

  /** @throws EngineError where the machine cannot be entered */
  static async open(docker: Docker, dockerId: string, port: number): Promise<MachineSocket> {
    const execId = await docker.execs.create(dockerId, { command: connectTo(port), tty: false, stdin: true, env: {} })
    return new MachineSocket(await docker.execs.attach(execId, { tty: false }))
  }

  async #take(): Promise<void> {
    try {
      for await (const { from, data } of through('/exec', this.#stream, framesTaken()) as AsyncIterable<Output>)
        if (from === 'stdout' && !this.push(data)) await new Promise<void>((resolve) => (this.#wanted = resolve))
      this.push(null)
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error('broken off', { cause: error }))
    }
  }
  override _read(): void {
    this.#wanted?.()
    this.#wanted = null
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#stream.write(chunk)) return done()
    this.#stream.once('drain', done)
  }
  override _final(done: (error?: Error | null) => void): void {
    this.#stream.end(done)
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this._read()
    clearTimeout(this.#idle)
    this.#stream.destroy()
    done(error)
  }
  // Node's agent asks these of a socket that it keeps for the next request.
  setKeepAlive = (): this => this
  setNoDelay = (): this => this
  /** The agent lets go of what has been free for so long; what is in use it leaves alone. */
  setTimeout = (ms: number): this => {
    clearTimeout(this.#idle)
    if (ms > 0) this.#idle = setTimeout(() => this.emit('timeout'), ms).unref()
    return this
  }
  ref = (): this => this
  unref = (): this => this
}
