import type { ImageTag } from '@zhisuan/contract/ims/project'

/** As programs name it: `linux/arm64/v8`. */
export const platformText = ({ os, architecture, variant }: Pick<ImageTag['platforms'][number], 'os' | 'architecture' | 'variant'>): string =>
  [os, architecture, variant].filter((part) => part !== null && part !== '').join('/')
