import { inflateSync } from 'node:zlib'

/** Streams of a file as pdfkit writes it, unpacked. */
function streamsOf(file: Buffer): string[] {
  const text = file.toString('latin1')
  return [...text.matchAll(/\/Length (\d+)[^]*?>>\s*stream\r?\n/g)].map((match) => {
    const from = match.index + match[0].length
    const bytes = file.subarray(from, from + Number(match[1]))
    return (match[0].includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1')
  })
}

const inFours = (hex: string): string[] => hex.match(/.{4}/g) ?? []
const utf16 = (hex: string): string => String.fromCharCode(...inFours(hex).map((unit) => Number.parseInt(unit, 16)))

/**
 * The pieces of text that stand in a PDF which pdfkit made with one font, in the order in which
 * they were written: by that font's map from glyphs to characters.
 */
export function textsOfPdf(file: Buffer): string[] {
  const streams = streamsOf(file)
  const characters = new Map<string, string>()
  // Of a ligature it has several, with blanks between.
  for (const [, first = '', , all = ''] of streams.join('\n').matchAll(/<([0-9a-f]{4})> <([0-9a-f]{4})> \[([^\]]*)\]/gi)) {
    for (const [index, [, hex = '']] of [...all.matchAll(/<([0-9a-f ]*)>/gi)].entries())
      characters.set((Number.parseInt(first, 16) + index).toString(16).padStart(4, '0'), utf16(hex.replaceAll(' ', '')))
  }
  return streams.flatMap((stream) =>
    [...stream.matchAll(/\[([^\]]*)\] TJ/g)].map(([, shown = '']) =>
      [...shown.matchAll(/<([0-9a-f]+)>/gi)]
        .map(([, glyphs = '']) =>
          inFours(glyphs)
            .map((glyph) => characters.get(glyph) ?? '\uFFFD')
            .join(''),
        )
        .join(''),
    ),
  )
}
