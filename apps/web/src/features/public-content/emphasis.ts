/** A piece of a paragraph. */
export interface Piece {
  readonly text: string
  readonly strong: boolean
}

/**
 * Cuts a paragraph at `**`: what stands between two of them is emphasised, as the law asks for
 * terms that weigh on the reader. A mark without its second is text.
 */
export function emphasised(paragraph: string): Piece[] {
  const parts = paragraph.split('**')
  const open = parts.length % 2 === 0 ? parts.length - 2 : parts.length
  const pieces: Piece[] = parts.slice(0, open).map((text, index) => ({ text, strong: index % 2 === 1 }))
  if (open < parts.length) pieces.push({ text: parts.slice(open).join('**'), strong: false })
  return pieces.filter((piece) => piece.text !== '')
}

/** The id of a section by its place: headings may change, and an old link still finds the place. */
export const sectionId = (index: number): string => `section-${index + 1}`
