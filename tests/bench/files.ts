import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { randomBytes } from 'node:crypto'
import { fileEntries, fileSpaces, fileUploads, type FileUpload } from '@zhisuan/contract/files/file'
import pg from 'pg'
import { freePort } from '../support/port.ts'
import { asAdministrator, startServer, type RunningServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, percentile, timed } from './stats.ts'

const run = promisify(execFile)
const size = 2 ** 29
/** What one PATCH brings. */
const pieceBytes = 64 * 2 ** 20
const rounds = 5
const atOnce = 50
const files = 100_000
const residentMost = 250
const pageMost = 50

/** Files against the disk and against nginx (Debian's nginx-light, and curl), on the same file system. */
export async function benchFiles(data: string): Promise<Figure[]> {
  // As `npm start` does: what Node compiled is kept, and one that was started before has no need of what reads TypeScript.
  const env = { LOCAL_CLOUD: 'none', LOG_LEVEL: 'error', ZHISUAN_ENV: 'production', NODE_COMPILE_CACHE: join(data, 'compiled') }
  // On data of its own: the first password is told once.
  await (await startServer(`${data}-before`, env)).stop()
  const server = await startServer(data, env)
  try {
    const client = await asAdministrator(server)
    const { items } = await client.call(fileSpaces.list, {})
    const space = items.find(({ kind }) => kind === 'personal')?.id ?? ''
    const source = join(data, 'source')
    await fill(source, size)
    await run('split', ['-b', String(pieceBytes), '-d', '-a', '2', source, join(data, 'piece')])
    const to: Place = { server, source, client, space, data }
    // The crowd first: what the others leave in memory is not theirs.
    return [...(await crowd(to)), await uploads(to), ...(await downloads(to)), await folder(to)]
  } finally {
    await server.stop()
  }
}

interface Place {
  readonly server: RunningServer
  readonly source: string
  readonly client: Awaited<ReturnType<typeof asAdministrator>>
  readonly space: string
  readonly data: string
}

async function fill(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w')
  const block = randomBytes(16 * 2 ** 20)
  for (let at = 0; at < bytes; at += block.length) await file.write(block)
  await file.sync()
  await file.close()
}

/** By pieces, over one connection, as the console sends them. */
async function send({ server, client, data }: Place, upload: Pick<FileUpload, 'upload_path'>): Promise<void> {
  const { authorization = '' } = client.authorization
  const headers = [`authorization: ${authorization}`, 'tus-resumable: 1.0.0', 'content-type: application/offset+octet-stream', 'expect:']
  const parts = Array.from({ length: size / pieceBytes }, (_, index) => {
    const piece = join(data, `piece${String(index).padStart(2, '0')}`)
    const given = [...headers, `upload-offset: ${index * pieceBytes}`].flatMap((header) => ['-H', header])
    return [...(index === 0 ? [] : ['--next']), '-sSf', '-o', '/dev/null', '-X', 'PATCH', '-T', piece, `${server.url}${upload.upload_path}`, ...given]
  })
  await run('curl', parts.flat())
}

async function uploads(to: Place): Promise<Figure> {
  const { client, space, source, data } = to
  const target = join(data, 'dd')
  const write = async (): Promise<number> => {
    const ms = await timed(() => run('dd', [`if=${source}`, `of=${target}`, 'bs=8M', 'conv=fdatasync']))
    await run('rm', [target])
    return ms
  }
  // Of a disk that others use too each round is compared with the disk just before and just after it.
  const [ours, floor]: [number[], number[]] = [[], []]
  let before = await write()
  for (let round = 0; round < rounds; round++) {
    const upload = await client.call(fileSpaces.upload, { params: { id: space }, body: { name: `${round}.bin`, size_bytes: size } })
    ours.push(await timed(() => send(to, upload)))
    await verified(client, upload.id)
    const after = await write()
    floor.push((before + after) / 2)
    before = after
  }
  const ratios = ours.map((ms, round) => (floor[round] ?? Number.NaN) / ms)
  console.log(`upload against dd, round by round: ${ratios.map((one) => one.toFixed(2)).join(' ')}`)
  const value = median(ratios)
  return { ...ratio('upload of 512 MiB, against dd conv=fdatasync', floor, ours, 0.8), value, met: value >= 0.8 }
}

async function verified(client: Place['client'], id: string): Promise<string> {
  for (;;) {
    const { status, entry_id } = await client.call(fileUploads.get, { params: { id } })
    if (status === 'done') return entry_id ?? ''
    if (status === 'failed') throw new Error('an upload failed')
    await sleep(100)
  }
}

/** @param floor, ours milliseconds of the same work */
const ratio = (name: string, floor: readonly number[], ours: readonly number[], bar: number): Figure => {
  const [theirs, mine] = [median(floor), median(ours)]
  const speed = (ms: number): string => `${Math.round(size / 2 ** 20 / (ms / 1000))} MiB/s`
  return { name, ours: speed(mine), floor: speed(theirs), value: theirs / mine, bar: `≥ ${bar}`, met: theirs / mine >= bar }
}

async function downloads({ server, client, space, data }: Place): Promise<Figure[]> {
  const port = await freePort()
  const root = join(data, 'nginx')
  mkdirSync(root)
  const config = join(root, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; pid ${root}/pid; error_log ${root}/error.log; user root;
events {}
http { access_log off; sendfile on; tcp_nopush on; client_body_temp_path ${root}; proxy_temp_path ${root}; fastcgi_temp_path ${root}; uwsgi_temp_path ${root}; scgi_temp_path ${root};
  server { listen 127.0.0.1:${port}; location / { root ${data}; } } }`,
  )
  const nginx = spawn('nginx', ['-c', config, '-e', join(root, 'error.log')], { stdio: 'ignore' })
  try {
    await sleep(500)
    const { items } = await client.call(fileSpaces.entries, { params: { id: space }, query: {} })
    const entry = items.find(({ size_bytes }) => size_bytes === size)
    const { path } = await client.call(fileEntries.download, { body: { ids: [entry?.id ?? ''] } })
    // Both send the very same file: another one may lie otherwise on the disk.
    const sha256 = entry?.sha256 ?? ''
    const addresses = { ours: `${server.url}${path}`, nginx: `http://127.0.0.1:${port}/bytes/contents/${sha256.slice(0, 2)}/${sha256}` }
    // As somebody goes on with a download that broke off: from a place on, to the end.
    const get = (url: string) => run('curl', ['-sf', '-o', '/dev/null', '-r', '1048576-', url])
    // To the system, what is not to be kept in memory is dropped: both read the disk.
    const cold = async (): Promise<void> => {
      await run('sync')
      for (const file of contents(data)) await run('dd', [`if=${file}`, 'iflag=nocache', 'count=0'])
    }
    const measure = async (name: string, before: () => Promise<void>): Promise<Figure> => {
      const [ours, floor]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        await before()
        floor.push(await timed(() => get(addresses.nginx)))
        await before()
        ours.push(await timed(() => get(addresses.ours)))
      }
      return ratio(name, floor, ours, 0.9)
    }
    return [
      await measure('download by Range from the disk, against nginx', cold),
      await measure('download by Range from memory, against nginx', async () => undefined),
    ]
  } finally {
    const gone = once(nginx, 'exit')
    nginx.kill()
    await gone
  }
}

const contents = (data: string): string[] => {
  const root = join(data, 'bytes', 'contents')
  return readdirSync(root).flatMap((part) => readdirSync(join(root, part)).map((name) => join(root, part, name)))
}

/** Memory that the server takes, beside what it has at rest, while so many send, and while so many fetch, as fast as they can. */
async function crowd({ server, client, space }: Place): Promise<Figure[]> {
  const bytes = 32 * 2 ** 20
  const content = randomBytes(bytes)
  const resident = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) * 1024
  const watched = async (name: string, work: () => Promise<unknown>): Promise<Figure> => {
    let most = resident()
    const watching = setInterval(() => (most = Math.max(most, resident())), 50)
    await work()
    clearInterval(watching)
    const mebibytes = (most - rest) / 2 ** 20
    return {
      name,
      ours: `${Math.round(mebibytes)} MiB`,
      floor: `${residentMost} MiB`,
      value: mebibytes / residentMost,
      bar: `≤ ${residentMost} MiB`,
      met: mebibytes <= residentMost,
    }
  }
  const rest = resident()
  console.log(`resident before anybody comes: ${Math.round(rest / 2 ** 20)} MiB`)
  const announced = await Promise.all(
    Array.from({ length: atOnce }, (_, index) =>
      client.call(fileSpaces.upload, { params: { id: space }, body: { name: `crowd ${index}`, size_bytes: bytes } }),
    ),
  )
  const sending = await watched(`memory of ${atOnce} uploads at once`, async () => {
    await Promise.all(
      announced.map(async ({ upload_path }) => {
        const headers = { ...client.authorization, 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
        const { status } = await fetch(`${server.url}${upload_path}`, { method: 'PATCH', headers, body: content })
        if (status !== 204) throw new Error(`an upload was answered ${status}`)
      }),
    )
  })
  const ids = await Promise.all(announced.map(({ id }) => verified(client, id)))
  const links = await Promise.all(ids.map((id) => client.call(fileEntries.download, { body: { ids: [id] } })))
  const fetching = await watched(`memory of ${atOnce} downloads at once`, () =>
    Promise.all(links.map(({ path }) => run('curl', ['-sf', '-o', '/dev/null', `${server.url}${path}`]))),
  )
  return [sending, fetching]
}

/** The first page of a folder with very many files. */
async function folder({ server, client, space }: Place): Promise<Figure> {
  const { id } = await client.call(fileSpaces.createFolder, { params: { id: space }, body: { name: 'many' } })
  const sql = new pg.Client({ connectionString: server.databaseUrl })
  await sql.connect()
  await sql.query(
    `insert into file_entries (id, space_id, parent_id, kind, name, sha256, size_bytes, created_by_name)
     select gen_random_uuid(), $1, $2, 'file', 'file ' || n || '.bin', (select sha256 from byte_contents limit 1), n, 'bench' from generate_series(1, $3::int) as n`,
    [space, id, files],
  )
  await sql.query('vacuum analyze file_entries')
  await sql.end()
  const query = { parent_id: id, page_size: '50' }
  const look = () => client.call(fileSpaces.entries, { params: { id: space }, query })
  for (let warm = 0; warm < 10; warm++) await look()
  const times: number[] = []
  for (let time = 0; time < 100; time++) times.push(await timed(look))
  const p95 = percentile(times, 0.95)
  return {
    name: `first page of a folder of ${files} files, p95`,
    ours: `${p95.toFixed(1)} ms`,
    floor: `${pageMost} ms`,
    value: p95 / pageMost,
    bar: `≤ ${pageMost} ms`,
    met: p95 <= pageMost,
  }
}
