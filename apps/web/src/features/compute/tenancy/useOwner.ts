import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { useMayCall } from '../../../session/user.ts'
import { useCloudLines } from '../CloudTable.tsx'

/**
 * The organisation that a cloud's project is of, for those who see other organisations' resources, as what those pay
 * is their own price. Null while it is not known, of what has no owner, and for members: they see their own alone.
 */
export function useOwner(cloudId: string, keystoneProjectId: string | null | undefined): string | null {
  const may = useMayCall(keystoneProjects.list)
  const { data } = useCloudLines(keystoneProjects.list, may && keystoneProjectId != null ? cloudId : null)
  return data?.items.find(({ id }) => id === keystoneProjectId)?.bp_id ?? null
}
