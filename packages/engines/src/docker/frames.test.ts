import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { framesTaken, jsonLines, type Output } from './frames.ts'

const frame = (kind: number, text: string): Buffer => {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(8)
  head[0] = kind
  head.writeUInt32BE(payload.length, 4)
  return Buffer.concat([head, payload])
}
const out = (text: string) => frame(1, text)
const err = (text: string) => frame(2, text)
/** Cut into pieces of so many bytes. */
const cut = (whole: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, n) => whole.subarray(n * size, (n + 1) * size))
const taken = async (pieces: readonly Buffer[]): Promise<Output[]> => await Readable.from(pieces, { objectMode: false }).pipe(framesTaken()).toArray()
const told = (outputs: readonly Output[]) => {
  const all: [string, string][] = []
  for (const { from, data } of outputs) {
    const last = all.at(-1)
    if (last?.[0] === from) last[1] += data.toString('latin1')
    else all.push([from, data.toString('latin1')])
  }
  return all
}

describe('frames', () => {
  const whole = Buffer.concat([out('one\n'), out('two\n'), err('no\n'), out(''), out('three\n'), frame(0, 'as stdout\n')])
  it.each([1, 2, 3, 7, 8, 9, 13, 1_000])('say the same in pieces of %i bytes', async (size) => {
    expect(told(await taken(cut(whole, size)))).toEqual([
      ['stdout', 'one\ntwo\n'],
      ['stderr', 'no\n'],
      ['stdout', 'three\nas stdout\n'],
    ])
  })
  it('of one kind come out as one', async () => {
    expect(await taken([whole])).toHaveLength(3)
  })
  it('longer than a piece come in parts, whole in the end', async () => {
    const long = 'x'.repeat(300_000)
    expect(told(await taken(cut(Buffer.concat([out(long), err('end')]), 65_536)))).toEqual([
      ['stdout', long],
      ['stderr', 'end'],
    ])
  })
  it('that break off are told', async () => {
    await expect(taken([out('one\n').subarray(0, 10)])).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(taken([out('one\n').subarray(0, 3)])).rejects.toMatchObject({ kind: 'unreachable' })
  })
  it('that are none are told', async () => {
    await expect(taken([Buffer.from('a terminal says anything')])).rejects.toMatchObject({ kind: 'bad_answer' })
    await expect(taken([Buffer.from([1, 0, 0, 0, 255, 255, 255, 255])])).rejects.toMatchObject({ kind: 'bad_answer' })
  })
})

describe('lines of JSON', () => {
  const lines = async (pieces: readonly Buffer[]): Promise<unknown[]> =>
    await Readable.from(pieces, { objectMode: false }).pipe(jsonLines('/x', 1_000)).toArray()
  it.each([1, 5, 1_000])('say the same in pieces of %i bytes', async (size) => {
    expect(await lines(cut(Buffer.from('{"a":"智算"}\r\n\n{"b":2}\n{"c":3}'), size))).toEqual([{ a: '智算' }, { b: 2 }, { c: 3 }])
  })
  it('that are none, or have no end, are told', async () => {
    await expect(lines([Buffer.from('nonsense\n')])).rejects.toMatchObject({ kind: 'bad_answer' })
    await expect(lines([Buffer.from('"'.padEnd(2_000, 'x'))])).rejects.toMatchObject({ kind: 'bad_answer' })
  })
})
