import type { Docker } from '@zhisuan/engines/docker/types'
import type { Sql } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import { fileArchive } from '../container/container.tar.ts'
import { filesOf, recordFile, type StaleFile } from './config.store.ts'

const place = (id: string): string => `container_configs.content:${id}`
export const sealContent = (secrets: Secrets, id: string, content: string): string => secrets.seal(content, place(id))
export const openContent = (secrets: Secrets, row: { readonly id: string; readonly content: string }): string => secrets.open(row.content, place(row.id))

export interface FilesParts {
  readonly db: Sql
  readonly secrets: Secrets
  readonly docker: Docker
  readonly signal: AbortSignal
}

/** Writes one into a container, running or not; the directories above it are made. `then` is done before it is said to be there. */
export async function putFile({ db, secrets, docker, signal }: FilesParts, dockerId: string, file: StaleFile, then?: () => Promise<void>): Promise<void> {
  const content = Buffer.from(openContent(secrets, { id: file.config_id, content: file.content }), 'utf8')
  await docker.containers.put(dockerId, '/', fileArchive(file.path, content), { signal })
  await then?.()
  await recordFile(db, file)
}

/** All that a container is to have. */
export async function putFiles(parts: FilesParts, container: { id: string; docker_id: string }): Promise<void> {
  for (const file of await filesOf(parts.db, container.id)) await putFile(parts, container.docker_id, file)
}
