/** An hour costs so little that two decimals would say nothing: at most four, floored. @param amount decimal text, not below 0 */
export function small(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const cut = fraction.slice(0, 4).replace(/0+$/, '').padEnd(2, '0')
  return `${whole}.${cut}`
}
