import { imageKind } from '@zhisuan/contract/ims/rights'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Kept } from '../../platform/kept/kept.ts'
import { onNodes } from '../../platform/kept/kept.onNodes.ts'
import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { StandingService } from '../bill/arrears/standing.service.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../ecrm/edge/edge.refusals.ts'
import type { Limits } from '../iam/rules/limits.ts'
import { createImageAuth, createImageUse, type ImageAuth, type ImageUse } from './imageAuth.ts'
import { createRefuseAlso, createRefusePulls, repositoryOfImage, type RefusePulls } from './imageRights.ts'
import { imsMigrations } from './ims.migrations.ts'
import { imsRoutes } from './ims.routes.ts'
import { createPreheatRunner } from './preheat/preheat.runner.ts'
import { createPreheats } from './preheat/preheat.service.ts'
import { createProjects } from './project/project.service.ts'
import { createAuthority } from './registry/authority.ts'
import { createRegistryEndpoints } from './registry/registry.endpoint.ts'
import { createRegistryOperations } from './registry/registry.operations.ts'
import { createRegistryService } from './registry/registry.service.ts'
import { serveEvents } from './repository/events.ts'
import { createIndex } from './repository/indexing.ts'
import { createRepositories } from './repository/repository.service.ts'
import { createThirdRegistries } from './third/third.service.ts'
import { serveTokens } from './token/token.routes.ts'
import { createTokenService } from './token/token.service.ts'
import { createTokens } from './token/tokens.ts'
import { createRegistryUsers } from './user/user.service.ts'

const reconcileJob = defineJob({ name: 'ims.registry.reconcile', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })
const purgeJob = defineJob({ name: 'ims.tagBin.purge', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

const collectJob = defineJob({ name: 'ims.registry.collect', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })
const renewJob = defineJob({ name: 'ims.registry.renew', input: z.object({}), concurrency: 1, schedule: '20 18 * * *' })
const thirdJob = defineJob({ name: 'ims.thirdRegistry.look', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })
const rulesJob = defineJob({ name: 'ims.project.keep', input: z.object({}), concurrency: 1, schedule: '40 18 * * *' })

/** What it takes from who knows people: their passwords, and whom an access key stands for. */
export interface ImsParts {
  readonly passwords: { hash(password: string): Promise<string>; verify(hash: string | null, password: string): Promise<boolean> }
  readonly accessKeys: { isOne(secret: string): boolean; actorOf(secret: string, ip: string): Promise<Actor | null> }
  readonly personOf: (userId: string) => Promise<Actor | null>
  readonly limits: Pick<Limits, 'refuseUnknownOrganisation'>
  readonly edges: Pick<EdgeReach, 'reach' | 'connected' | 'onUp'>
  readonly refusedByNode: RefusedByNode
  readonly kept: Kept
  /** Whether an organisation may have more of what costs by the hour. */
  readonly mayMake: StandingService['mayMake']
  readonly tell: Tell
}

/** Registries: who pushes and pulls by our rights, and what is there. */
export function createIms(
  platform: Platform,
  { passwords, accessKeys, personOf, limits, edges, refusedByNode, kept, mayMake, tell }: ImsParts,
): ModuleParts & { readonly imageAuth: ImageAuth; readonly imageUse: ImageUse; readonly refusePulls: RefusePulls } {
  const tokens = createTokens(platform)
  const endpoints = createRegistryEndpoints(platform, tokens)
  const refuseAlso = createRefuseAlso(platform)
  const index = createIndex(platform, { endpoints, tell })
  const repositories = createRepositories(platform, { index, refuseAlso })
  const tokenService = createTokenService(platform, {
    tokens,
    verify: passwords.verify,
    isAccessKey: accessKeys.isOne,
    ofAccessKey: accessKeys.actorOf,
    personOf,
    mayMake,
  })
  const authority = createAuthority(platform)
  const { notQuiet, ...operations } = createRegistryOperations(platform, { endpoints, kept, reconcile: (id) => index.reconcile(id) })
  const registries = createRegistryService(platform, {
    endpoints,
    tokens,
    reconcile: (id) => index.reconcile(id),
    kept,
    authority,
    operations: { notQuiet, ...operations },
  })
  const guard = createOutboundGuard({ allow: platform.config.IMAGE_FETCH_ALLOW, publicUrl: platform.config.PUBLIC_URL })
  const third = createThirdRegistries(platform, { guard })
  const runner = createPreheatRunner(platform, { edges, refusedByNode, endpoints, tokens, third, personOf, refuseAlso })
  edges.onUp(() => runner.begin())
  return {
    imageAuth: createImageAuth({ db: platform.db, endpoints, tokens, third }),
    imageUse: createImageUse(platform.db),
    refusePulls: createRefusePulls(platform),
    named: { [imageKind]: repositoryOfImage },
    migrations: imsMigrations,
    kinds: {
      'ims.registry': { table: 'registries' },
      'ims.project': {
        table: 'registry_projects',
      },
      'ims.repository': { table: 'registry_repositories' },
      'ims.tag': { table: 'registry_tags' },
      'ims.preheat': {},
      'ims.thirdRegistry': { table: 'third_registries' },
    },
    handlers: imsRoutes({
      registries,
      users: createRegistryUsers(platform, { hash: passwords.hash }),
      projects: createProjects(platform, { limits, mayMake, refuseAlso, isThere: index.isThere }),
      repositories,
      tokens: tokenService,
      third,
      preheats: createPreheats(platform, { third, refuseAlso, begin: runner.begin, letGo: runner.letGo }),
    }),
    operations: Object.values(operations),
    contentsOfNode: onNodes('registries'),
    jobs: [reconcileJob, purgeJob, rulesJob, collectJob, renewJob, thirdJob],
    jobHandlers: [
      handleJob(reconcileJob, async () => void (await index.reconcileAll())),
      handleJob(purgeJob, () => repositories.purgeEnded()),
      handleJob(rulesJob, () => repositories.applyRules()),
      handleJob(collectJob, () => registries.collectAll()),
      handleJob(thirdJob, () => third.lookAtAll()),
      handleJob(renewJob, () => registries.renewCertificates()),
    ],
    serve: (http, authorising) => {
      serveTokens(http, tokenService, authorising)
      serveEvents(http, { db: platform.db, log: platform.log, index })
    },
    start: async () => {
      endpoints.start()
      runner.begin()
      index.begin()
    },
    stop: async () => {
      index.stop()
      await runner.stop()
      await endpoints.stop()
    },
  }
}
