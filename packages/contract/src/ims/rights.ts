import type { Also, PathParts } from '../define.ts'

/** How policies name what lies in a project: `repository/<project>/<repository>`, so that `repository/<project>/*` is all of one. */
export const subjectInProject = ({ pid, name }: PathParts): string | undefined => (pid === undefined ? undefined : `${pid.toLowerCase()}/${name ?? '*'}`)

/** A project itself: `project/<project>`. */
export const subjectProject = ({ pid }: PathParts): string | undefined => pid?.toLowerCase()

/** What is done besides in a repository, or in all of a project where none is named. */
export const alsoInProject = (action: string, params: PathParts): Also => ({
  action,
  on: { kind: action.split('.').slice(0, 2).join('.'), id: subjectInProject(params) },
})

/** How images are told in {@link Also}: by their names, which lead to a repository where they are in a registry of the platform's. */
export const imageKind = 'image'

/** Whether a name of an image begins with a registry's address (distribution, "reference"): all others are at Docker Hub. */
export const hasRegistry = (image: string): boolean => {
  const slash = image.indexOf('/')
  return slash > 0 && (/[.:]/.test(image.slice(0, slash)) || image.slice(0, slash) === 'localhost')
}

/** The same of what is named by the registry that it is in. */
export const pullsFrom = (registryId: string | undefined, repositories: readonly string[]): readonly Also[] =>
  repositories.map((name) => ({ action: 'ims.repository.pull', on: { kind: 'ims.repository', id: `${registryId ?? ''}/${name}`, of: imageKind } }))

/** What has an image pulled asks for being allowed to pull it; one that is at no registry of the platform's, or public there, is not asked about. */
export const pulls = (...images: readonly (string | undefined)[]): readonly Also[] =>
  [...new Set(images)].flatMap((image) =>
    image === undefined || !hasRegistry(image) ? [] : [{ action: 'ims.repository.pull', on: { kind: 'ims.repository', id: image, of: imageKind } }],
  )
