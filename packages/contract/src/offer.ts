/**
 * What a platform has for somebody besides itself: a cloud of the first family or of the second, a node of their own
 * that containers run on. Menus leave out what nothing is there for; see `offers` of the current user.
 */
export const offers = ['nextStack', 'compute', 'node'] as const
export type Offer = (typeof offers)[number]
