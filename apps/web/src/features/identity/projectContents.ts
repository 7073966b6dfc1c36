import type { ResponseOf } from '@zhisuan/contract/define'
import type { keptProjects } from '@zhisuan/contract/iam/project'
import type { QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import * as format from '../../kit/format.ts'
import { amountText } from '../../kit/quotaLines.ts'

type Contents = ResponseOf<typeof keptProjects.contents>
type Content = Contents['items'][number]

/** What there is any of. */
export const heldOf = (contents: Contents | undefined): readonly Content[] => contents?.items.filter(({ count }) => count > 0) ?? []

const isQuotaResource = (resource: string): resource is QuotaResource => resource in quotaTexts

/** 云主机 3; what a newer server counts is called as it calls it. */
export const contentText = ({ resource, count }: Content): { resource: string; amount: string } =>
  isQuotaResource(resource) ? { resource: quotaTexts[resource], amount: amountText(resource, count) } : { resource, amount: format.number(count) }
