/** So much at a time: a few milliseconds of work, between which the page can do something else. */
const pieceBytes = 2 * 2 ** 20

/**
 * The SHA-256 of a file, in hex, read piece by piece however large it is.
 * @throws what the signal was aborted with, or the file could not be read for
 */
export async function checksumOf(file: Blob, signal: AbortSignal, onProgress: (share: number) => void): Promise<string> {
  const { createSHA256 } = await import('hash-wasm')
  const hash = await createSHA256()
  hash.init()
  for (let from = 0; from < file.size; from += pieceBytes) {
    const piece = await file.slice(from, from + pieceBytes).arrayBuffer()
    signal.throwIfAborted()
    hash.update(new Uint8Array(piece))
    onProgress(Math.min(1, (from + pieceBytes) / file.size))
  }
  return hash.digest('hex')
}
