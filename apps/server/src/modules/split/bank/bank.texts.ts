/** What a provider is told of its bank details. */
export const bankTexts = {
  changed: (name: string, account: string): string => `“${name}”的收款账户将改为${account}。如非本人操作，请立即撤回并联系平台`,
  approved: (name: string, account: string): string => `“${name}”的收款账户已改为${account}，经平台批准即时生效`,
  withdrawn: (name: string, account: string): string => `“${name}”的收款账户变更（${account}）已撤回`,
} as const
