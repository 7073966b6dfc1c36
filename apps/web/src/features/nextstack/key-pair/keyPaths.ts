import { useLocation } from 'react-router'
import { paths } from '../../../paths.ts'

/** Keys are tied to no cloud: they have pages in both families' groups, and links stay in the one that is looked at. */
export function useKeyPaths(): { list: () => string; detail: (id: string) => string } {
  const { pathname } = useLocation()
  return pathname.startsWith(paths.compute.keypair.list.template) ? paths.compute.keypair : paths.nextstack.publicKey
}
