import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface ImageFiles {
  unified: string
  split: { metadataPath: string; rootfsPath: string }
  undo: () => Promise<void>
}

/** Two images with next to nothing in them, of one content and of another, so that neither is anybody else's. */
export async function imageFiles(): Promise<ImageFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'zhisuan-conf-'))
  const make = async (name: string, parts: string[]): Promise<string> => {
    const source = join(folder, `${name}-source`)
    await mkdir(join(source, 'rootfs', 'etc'), { recursive: true })
    await writeFile(join(source, 'rootfs', 'etc', 'conformance'), `${name} ${folder}`)
    await writeFile(join(source, 'metadata.yaml'), `architecture: x86_64\ncreation_date: 1700000000\nproperties:\n  os: ${name}\n  origin: "${folder}"\n`)
    const file = join(folder, `${name}.tar.gz`)
    await run('tar', ['-C', name === 'rootfs' ? join(source, 'rootfs') : source, '-czf', file, ...parts])
    return file
  }
  return {
    unified: await make('unified', ['metadata.yaml', 'rootfs']),
    split: { metadataPath: await make('metadata', ['metadata.yaml']), rootfsPath: await make('rootfs', ['.']) },
    undo: () => rm(folder, { recursive: true, force: true }),
  }
}
