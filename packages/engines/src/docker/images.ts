import { z } from 'zod'
import { EngineError, isEngineError } from '../errors.ts'
import { signalOf, withQuery } from './containers.ts'
import { jsonLines } from './frames.ts'
import { inspectedImage, listedImage, progress, shapeImage, shapeProgress } from './parse.ts'
import { dockerError, parsed, through, type DockerAsk, type DockerAsker } from './transport.ts'
import type { Images, PullProgress, RegistryAuth } from './types.ts'

const pruned = z.object({
  ImagesDeleted: z.array(z.object({ Untagged: z.string().nullish(), Deleted: z.string().nullish() })).nullish(),
  SpaceReclaimed: z.number().nullish(),
})
/** A registry that is far away lets Docker wait before it says anything. */
const pullMs = 300_000

/** Names have slashes, which Docker wants as they are. */
const at = (name: string): string => `/images/${name.split('/').map(encodeURIComponent).join('/')}`

/** `repo:tag` or `repo@digest` in two; a colon before a slash is a port. Without a tag it is `latest`: Docker would pull them all. */
export function nameAndTag(image: string): { name: string; tag: string } {
  const digest = image.indexOf('@')
  if (digest >= 0) return { name: image.slice(0, digest), tag: image.slice(digest + 1) }
  const colon = image.lastIndexOf(':')
  return colon > image.lastIndexOf('/') ? { name: image.slice(0, colon), tag: image.slice(colon + 1) } : { name: image, tag: 'latest' }
}

/** With its padding: Docker reads none without, says nothing of that, and pulls as nobody. */
const authOf = ({ username, password, serverAddress, token }: RegistryAuth): string =>
  Buffer.from(JSON.stringify(token === undefined ? { username, password, serveraddress: serverAddress ?? '' } : { registrytoken: token }))
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_')

export function createImages(asker: DockerAsker): Images {
  /** Says how it goes; what goes wrong after the head stands in a line. */
  async function* told(ask: DockerAsk): AsyncGenerator<PullProgress> {
    const { stream } = await asker.open(ask)
    for await (const line of through(ask.path, stream, jsonLines(ask.path), ask.signal)) {
      const raw = parsed(progress, line, ask.path)
      const error = raw.errorDetail?.message ?? raw.error
      if (error !== null && error !== undefined)
        throw /unauthorized|authentication required|denied/i.test(error) && !/pull access denied/i.test(error)
          ? new EngineError('unauthorized', error)
          : dockerError(error, 500)
      yield shapeProgress(raw)
    }
  }
  return {
    list: async (options = {}) => (await asker.json(z.array(listedImage), { path: '/images/json', ...signalOf(options) })).map(shapeImage),
    async inspect(name, options = {}) {
      const raw = await asker.json(inspectedImage, { path: `${at(name)}/json`, ...signalOf(options) })
      const createdAt = new Date(raw.Created ?? Number.NaN)
      return {
        ...shapeImage({ ...raw, Created: 0, Labels: raw.Config?.Labels }),
        createdAt: createdAt.getTime() > 0 ? createdAt : null,
        os: raw.Os ?? '',
        architecture: raw.Architecture ?? '',
        command: raw.Config?.Cmd ?? [],
        entrypoint: raw.Config?.Entrypoint ?? [],
        env: raw.Config?.Env ?? [],
        exposedPorts: Object.keys(raw.Config?.ExposedPorts ?? {}),
      }
    },
    inRegistry: (name, options = {}) =>
      asker
        .done({
          path: `/distribution/${at(name).slice('/images/'.length)}/json`,
          ...(options.auth !== undefined && { headers: { 'x-registry-auth': authOf(options.auth) } }),
          ...signalOf(options),
        })
        .then(
          () => true,
          (error: unknown) => {
            if (isEngineError(error, 'not_found', 'unauthorized')) return false
            throw error
          },
        ),
    pull(image, options = {}) {
      const { name, tag } = nameAndTag(image)
      return told({
        method: 'POST',
        path: withQuery('/images/create', { fromImage: name, tag }),
        timeoutMs: pullMs,
        // Whoever asks once more gets the same.
        changes: false,
        ...(options.auth !== undefined && { headers: { 'x-registry-auth': authOf(options.auth) } }),
        ...signalOf(options),
      })
    },
    async import(image, tar, options = {}) {
      const { name, tag } = nameAndTag(image)
      const ask: DockerAsk = {
        method: 'POST',
        path: withQuery('/images/create', { fromSrc: '-', repo: name, tag, changes: options.changes ?? [] }),
        headers: { 'content-type': 'application/x-tar' },
        body: tar,
        timeoutMs: pullMs,
        ...signalOf(options),
      }
      // To its end: what goes wrong is told on the way.
      for await (const _ of told(ask));
    },
    tag(name, as, options = {}) {
      const target = nameAndTag(as)
      return asker.done({ method: 'POST', path: withQuery(`${at(name)}/tag`, { repo: target.name, tag: target.tag }), ...signalOf(options) })
    },
    remove: (name, options = {}) =>
      asker.done({ method: 'DELETE', path: withQuery(at(name), { force: String(options.force === true) }), timeoutMs: 120_000, ...signalOf(options) }),
    async prune(options = {}) {
      const filters = JSON.stringify({ dangling: [options.all === true ? 'false' : 'true'] })
      const { ImagesDeleted, SpaceReclaimed } = await asker.json(pruned, {
        method: 'POST',
        path: withQuery('/images/prune', { filters }),
        timeoutMs: 600_000,
        ...signalOf(options),
      })
      return { deleted: (ImagesDeleted ?? []).flatMap(({ Deleted }) => Deleted ?? []), freedBytes: SpaceReclaimed ?? 0 }
    },
  }
}
