import type { LedgerAccount, LedgerKind } from '@zhisuan/contract/bill/account'

/** What stands in files of income and expense, as people read them. */
export const accountTexts = {
  file: '收支明细',
  at: '时间',
  kind: '类型',
  account: '账户',
  amount: '金额（元）',
  after: '变动后余额（元）',
  note: '备注',
  by: '操作人',
  platform: '平台',
  movement: '流水号',
  kinds: {
    topup: '充值',
    usage: '用量扣费',
    usageCorrection: '用量更正',
    order: '订单支付',
    refund: '退款',
    hold: '冻结',
    capture: '冻结扣款',
    release: '解冻',
    adjustment: '调整',
  } satisfies Record<LedgerKind, string>,
  accounts: {
    wallet: '可用资金',
    held: '冻结资金',
    credit: '信用额度',
    receivable: '欠费',
    revenue: '消费',
    funds: '入金',
    refunds: '退款',
    adjustments: '调整',
  } satisfies Record<LedgerAccount, string>,
} as const
