/** How many cards the node shall have. */
export const cardsVariable = 'ZHISUAN_TEST_CARDS'
/** From which number on they are counted. */
export const fromVariable = 'ZHISUAN_TEST_CARDS_FROM'
export const cardsOfNode = (): number => Number(process.env[cardsVariable] ?? 0)
export const uuidOf = (index: number): string => `GPU-00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
