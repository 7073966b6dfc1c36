import { StringDecoder } from 'node:string_decoder'

export interface LogLine {
  at: string | null
  stream: 'stdout' | 'stderr'
  text: string
}
export interface LogFrame {
  readonly stream: 'stdout' | 'stderr'
  readonly data: Buffer
}

/** A line is told in parts above this length: what prints without line ends does not fill the memory. */
const lineMax = 64 * 1024
/** Docker's own, with nanoseconds: `2026-11-21T18:11:13.000000000Z text`. */
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?/

/** Frames as lines: those of both streams are told apart, and a character may be cut by a frame's border. */
export function createLines(timestamps: boolean): { add: (frame: LogFrame) => LogLine[]; rest: () => LogLine[] } {
  const streams = {
    stdout: { decoder: new StringDecoder('utf8'), text: '' },
    stderr: { decoder: new StringDecoder('utf8'), text: '' },
  }
  const line = (stream: LogLine['stream'], text: string): LogLine => {
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text
    const found = timestamps ? stamped.exec(whole) : null
    return found === null ? { at: null, stream, text: whole } : { at: found[1] ?? null, stream, text: whole.slice(found[0].length) }
  }
  return {
    add({ stream, data }) {
      const held = streams[stream]
      const parts = (held.text + held.decoder.write(data)).split('\n')
      held.text = parts.pop() ?? ''
      const lines = parts.map((part) => line(stream, part))
      if (held.text.length > lineMax) {
        lines.push(line(stream, held.text))
        held.text = ''
      }
      return lines
    },
    rest() {
      return (['stdout', 'stderr'] as const).flatMap((stream) => {
        const held = streams[stream]
        const text = held.text + held.decoder.end()
        held.text = ''
        return text === '' ? [] : [line(stream, text)]
      })
    },
  }
}
