import type { Chosen } from './queue.ts'

/** From a file input; of one that takes folders with the folders that the files lie in. */
export const fromInput = (files: FileList | null): Chosen[] =>
  [...(files ?? [])].map((file) => ({ file, folders: file.webkitRelativePath === '' ? [] : file.webkitRelativePath.split('/').slice(0, -1) }))

/** What was dropped, folders with all that is in them. Has to be called before the event is over; browsers forget it then. */
export async function fromDrop(transfer: DataTransfer): Promise<Chosen[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  return (await Promise.all(entries.map((entry) => within(entry, [])))).flat()
}

async function within(entry: FileSystemEntry, folders: readonly string[]): Promise<Chosen[]> {
  // What an entry is follows from these two.
  if (entry.isFile) return [{ file: await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)), folders }]
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: FileSystemEntry[] = []
  // A browser tells a hundred at a time.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) break
    found.push(...some)
  }
  return (await Promise.all(found.map((one) => within(one, [...folders, entry.name])))).flat()
}
