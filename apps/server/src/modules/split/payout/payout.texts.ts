/** What is told of payouts, and what a bank writes beside one. */
export const payoutTexts = {
  purpose: (title: string): string => `${title}算力分账款`,
  done: (name: string, amount: string): string => `给“${name}”的${amount}元分账款已付`,
  failed: (name: string, amount: string, reason: string): string => `给“${name}”的${amount}元分账款没有付成：${reason}。请核对收款账户`,
  returned: (name: string, amount: string, reason: string): string => `给“${name}”的${amount}元分账款被退回：${reason}。请核对收款账户`,
  channelAsked: (by: string, gateway: string): string => `“${by}”要把付款通道改为${gateway}，等待另一位人员批准。不是约定的变更请立即撤回`,
  channelChanged: (by: string, gateway: string): string => `付款通道已改为${gateway}，由“${by}”批准`,
  channelEnabled: (by: string): string => `付款通道已由“${by}”启用`,
  channelDisabled: (by: string): string => `付款通道已由“${by}”停用，付款不再发送`,
  toApprove: (name: string, amount: string): string => `给“${name}”的${amount}元付款等待批准`,
} as const
