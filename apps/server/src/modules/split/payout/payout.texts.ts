/** What is told of payouts, and what a bank writes beside one. */
export const payoutTexts = {
  purpose: (title: string): string => `${title}算力分账款`,
  done: (name: string, amount: string): string => `给“${name}”的${amount}元分账款已付`,
  failed: (name: string, amount: string, reason: string): string => `给“${name}”的${amount}元分账款没有付成：${reason}。请核对收款账户`,
  returned: (name: string, amount: string, reason: string): string => `给“${name}”的${amount}元分账款被退回：${reason}。请核对收款账户`,
  toApprove: (name: string, amount: string): string => `给“${name}”的${amount}元付款等待批准`,
} as const
