import { projectName, repositoryName } from '@zhisuan/contract/ims/names'
import type { RegistryScope } from '@zhisuan/engines/registry/types'

/** More than any program asks for at once: an image that is copied, and what its layers are mounted from. */
const most = 50
const known = new Set(['pull', 'push', 'delete', '*'])

/** `repository:project/name:pull,push`, several behind each other or with spaces between ("Token Scope Documentation"). What is none is left out. */
export function parseScopes(scope: string | readonly string[] | undefined): RegistryScope[] {
  const texts = [scope ?? []]
    .flat()
    .flatMap((text) => text.split(' '))
    .filter((text) => text !== '')
  return texts.slice(0, most).flatMap((text): RegistryScope[] => {
    const [, type = '', name = '', actions = ''] = /^([a-z]+)(?:\([a-z]+\))?:(.+):([a-z*,]*)$/.exec(text) ?? []
    if (type !== 'repository' && type !== 'registry') return []
    return [{ type, name, actions: actions.split(',').filter((one): one is RegistryScope['actions'][number] => known.has(one)) }]
  })
}

/** Project and repository of a name at the registry; null where it can be none of ours. */
export function partsOf(name: string): { project: string; repository: string } | null {
  const slash = name.indexOf('/')
  const [project, repository] = [name.slice(0, slash), name.slice(slash + 1)]
  return slash > 0 && projectName.safeParse(project).success && repositoryName.safeParse(repository).success ? { project, repository } : null
}
