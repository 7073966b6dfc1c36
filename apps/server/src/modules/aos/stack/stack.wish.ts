import type { Stack, stacks, StackFile } from '@zhisuan/contract/aos/stack'
import type { PortOfNode } from '@zhisuan/contract/cis/ports'
import { isShared } from '@zhisuan/contract/ecrm/share'
import type { BodyOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { ConfigService } from '../../cis/config/config.service.ts'
import type { RefusePulls } from '../../ims/imageRights.ts'
import type { Composer } from '../compose/compose.apart.ts'
import { readEnvFile } from '../compose/compose.env.ts'
import { isMapping } from '../compose/compose.parse.ts'
import { envFilesOf } from '../compose/compose.service.ts'
import { termsOf, valuesOf, type Prepared } from '../compose/compose.ts'
import type { TemplateService } from '../template/template.service.ts'
import type { RevisionContent } from './revision.store.ts'

export type Source = Pick<BodyOf<(typeof stacks)['create']>, 'compose' | 'template_id' | 'values' | 'configs'>
/** What a stack is to be, judged. */
export interface Wish {
  readonly content: RevisionContent
  readonly template: Stack['template']
  readonly prepared: Prepared
}

/** Reads what stacks are to be of what people say of it. */
export function createWishes(
  db: Db,
  parts: {
    templates: Pick<TemplateService, 'forDeployment'>
    configs: Pick<ConfigService, 'contents'>
    composer: Pick<Composer, 'prepare'>
    refusePulls: RefusePulls
  },
) {
  const { templates, configs, composer } = parts

  /** What lies beside the file, by path; each config has to be the scope's. */
  const contentsOf = async (scope: Scope, files: readonly StackFile[]): Promise<ReadonlyMap<string, string>> => {
    const contents = await configs.contents(
      db,
      scope,
      files.map(({ config_id }) => config_id),
    )
    return new Map(files.map(({ path, config_id }) => [path, contents.get(config_id)?.content ?? '']))
  }
  /** @throws Refusal `envFileInvalid` where a line of a file that a service has its variables from says nothing */
  const refuseEnvFiles = ({ root }: Prepared, contents: ReadonlyMap<string, string>): void => {
    for (const service of Object.values(isMapping(root['services']) ? root['services'] : {})) {
      for (const file of isMapping(service) ? envFilesOf(service) : []) {
        const text = file === null ? undefined : contents.get(file.path)
        const line = text === undefined ? null : readEnvFile(text, new Map(), file?.raw).wrongLine
        if (line !== null) throw new Refusal('envFileInvalid', { field: 'configs', values: { path: file?.path ?? '', line } })
      }
    }
  }

  /**
   * @param before what an update begins with: what it does not name stays
   * @param nodes where it is to run
   */
  return async (
    actor: Actor,
    source: Source,
    before: { content: RevisionContent; template: Stack['template'] } | null,
    nodes: readonly { bp_id: string | null }[],
  ): Promise<Wish> => {
    const scope = scopeOf(actor)
    const files = source.configs ?? before?.content.configs ?? []
    const contents = await contentsOf(scope, files)
    const terms = termsOf(
      actor,
      nodes,
      files,
      nodes.some((node) => isShared(actor.bp_id, node)),
    )
    const given = { ...before?.content.values, ...source.values }
    const wish = async (compose: string, values: ReadonlyMap<string, string>, template: Stack['template']): Promise<Wish> => {
      const prepared = await composer.prepare(compose, values, terms)
      refuseEnvFiles(prepared, contents)
      await parts.refusePulls(
        actor,
        prepared.services.map(({ image }) => image),
      )
      return { content: { compose, values: Object.fromEntries(values), configs: [...files] }, template, prepared }
    }
    if (source.template_id !== undefined) {
      const { id, name, version, compose, variables } = await templates.forDeployment(scope, source.template_id)
      return wish(compose, valuesOf(variables, given), { id, name, version })
    }
    return wish(
      source.compose ?? before?.content.compose ?? '',
      new Map(Object.entries(given)),
      source.compose === undefined ? (before?.template ?? null) : null,
    )
  }
}

/** Those that lead out by a number that is known. */
export const portsOf = ({ prepared }: Wish): PortOfNode[] =>
  prepared.services.flatMap(({ replicas, ports }) =>
    replicas === 0 ? [] : ports.flatMap(({ host_port, protocol, address }) => (host_port === null ? [] : [{ host_port, protocol, address }])),
  )
