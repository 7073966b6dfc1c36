/** Whether others run on a node too: it is not the organisation's own. What belongs to nobody has no share of anything. */
export const isShared = (bpId: string | null, node: { readonly bp_id: string | null }): boolean => bpId !== null && node.bp_id !== bpId
