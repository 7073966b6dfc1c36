import type { OverviewKind } from '@zhisuan/contract/nextstack/overview'
import { paths } from '../../paths.ts'

/** The page that lists a kind. */
const lists: Readonly<Record<OverviewKind, () => string>> = {
  vm: () => paths.nextstack.vm.list(),
  snapshot: () => paths.nextstack.snap.list(),
  volume: () => paths.nextstack.volume.list(),
  volumeSnapshot: () => paths.nextstack.volumeSnap.list(),
  image: () => paths.nextstack.privateImage.list(),
  vpc: () => paths.nextstack.vpc.list(),
  eip: () => paths.nextstack.eip.list(),
}

export const listOf = (kind: OverviewKind): string => lists[kind]()
