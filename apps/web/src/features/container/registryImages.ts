import { repositories } from '@zhisuan/contract/ims/project'
import { thirdRegistries } from '@zhisuan/contract/ims/preheat'
import { registries } from '@zhisuan/contract/ims/registry'
import { useCall } from '../../api/hooks.ts'
import { useMayCall } from '../../session/user.ts'

const most = 50

/** Of what is typed so far that of the repository, and of the tag; null while no tag is begun. */
export function typedParts(typed: string): { readonly repository: string; readonly tag: string | null } {
  const colon = typed.lastIndexOf(':')
  return colon > typed.lastIndexOf('/') && typed.includes('/')
    ? { repository: typed.slice(0, colon), tag: typed.slice(colon + 1) }
    : { repository: typed, tag: null }
}

/** Images of all registries that one may use and that fit what is typed: the platform's, and that of a third party whose address is typed. */
export function useRegistryImages(typed: string): readonly string[] {
  return [...usePlatformImages(typed), ...useThirdImages(typed)]
}

/** Repositories of a third party's registry, and the tags of one that is typed whole. */
function useThirdImages(typed: string): readonly string[] {
  const mayAsk = useMayCall(thirdRegistries.repositories)
  const { data } = useCall(thirdRegistries.list, { query: { page_size: most } }, { silent: true, enabled: mayAsk })
  const { repository, tag } = typedParts(typed)
  const registry = (data?.items ?? []).find(({ address }) => repository.startsWith(`${address}/`))
  const name = registry === undefined ? '' : repository.slice(registry.address.length + 1)
  const params = { id: registry?.id ?? '' }
  const found = useCall(
    thirdRegistries.repositories,
    { params, query: { keyword: name } },
    { silent: true, enabled: registry?.browsable === true && tag === null },
  )
  const tags = useCall(
    thirdRegistries.tags,
    { params, query: { repository: name, ...(tag !== null && tag !== '' && { keyword: tag }) } },
    { silent: true, enabled: registry !== undefined && tag !== null && name !== '' },
  )
  if (registry === undefined) return []
  if (tag !== null) return (tags.data?.items ?? []).slice(0, most).map((one) => `${registry.address}/${name}:${one}`)
  return (found.data?.items ?? []).slice(0, most).map((one) => `${registry.address}/${one}`)
}

/** Repositories of the platform's registries, and the tags of one that is typed whole. */
function usePlatformImages(typed: string): readonly string[] {
  const mayAsk = useMayCall(repositories.all)
  const { data } = useCall(registries.regions, {}, { silent: true, enabled: mayAsk })
  const all = (data?.items ?? []).flatMap((one) => one.registries)
  const { repository, tag } = typedParts(typed)
  const registry = all.find(({ address }) => repository.startsWith(`${address}/`)) ?? all[0]
  const rest = registry !== undefined && repository.startsWith(`${registry.address}/`) ? repository.slice(registry.address.length + 1) : repository
  const keyword = rest.slice(rest.indexOf('/') + 1)
  const found = useCall(
    repositories.all,
    { params: { id: registry?.id ?? '' }, query: { page_size: most, ...(keyword !== '' && { keyword }) } },
    { silent: true, enabled: registry !== undefined },
  )
  const items = found.data?.items ?? []
  const whole = items.find(({ image }) => image === repository)
  const tags = useCall(
    repositories.tags,
    {
      params: { id: whole?.registry.id ?? '', pid: whole?.project.id ?? '', name: whole?.name ?? '' },
      query: { page_size: most, ...(tag !== null && tag !== '' && { keyword: tag }) },
    },
    { silent: true, enabled: whole !== undefined },
  )
  if (whole !== undefined && tags.data !== undefined) return tags.data.items.map(({ name }) => `${whole.image}:${name}`)
  return items.map(({ image }) => image)
}
