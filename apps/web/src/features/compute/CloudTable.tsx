import type { z } from 'zod'
import type { RequestInput } from '../../api/client.ts'
import type { ItemOf, LinesCall } from '../../api/hooks.ts'
import { LinesTable, useChoiceLines, useFollowedLines, type LinesParts } from '../../kit/LinesTable.tsx'
import type { RowKey } from '../../kit/RowsTable.tsx'

/** A list of one cloud's, which comes in lines. */
export type CloudListCall = LinesCall & { readonly params: z.ZodType<{ cloud_id: string }> }

// What a list of one cloud's wants is that cloud's id; the type of C stays open here.
const inputOf = <C extends CloudListCall>(cloudId: string | null) =>
  cloudId === null ? null : ({ params: { cloud_id: cloudId } } as unknown as RequestInput<C>)

interface CloudParts<C extends CloudListCall> extends Omit<LinesParts<C>, 'input'> {
  readonly cloudId: string | null
}

/** A list as the cloud tells it now. Its id is null while it is not known. */
export const CloudTable = <C extends CloudListCall>(table: RowKey<ItemOf<C>> & CloudParts<C>) => <LinesTable<C> {...table} input={inputOf<C>(table.cloudId)} />

/** The list itself, for what is no table: a picture, or what a thing is connected to. */
export const useCloudLines = <C extends CloudListCall>(call: C, cloudId: string | null, busy?: (row: ItemOf<C>) => boolean) =>
  useFollowedLines(call, inputOf<C>(cloudId), busy)

/** The same for what a form offers. */
export const useCloudChoices = <C extends CloudListCall>(call: C, cloudId: string | null) => useChoiceLines(call, inputOf<C>(cloudId))
