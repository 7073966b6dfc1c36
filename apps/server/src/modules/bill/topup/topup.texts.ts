import type { TopupMethod, TopupStatus } from '@zhisuan/contract/bill/topup'

/** What is noted with a payment that its gateway closed, so that nobody takes it for one that a person gave up. */
export const closedByGateway = '支付渠道已关闭该笔支付'

/** What stands in files of top-ups, as people read them. */
export const topupTexts = {
  file: '充值记录',
  created: '时间',
  owner: '所属',
  method: '方式',
  channel: '支付渠道',
  status: '状态',
  amount: '申请金额（元）',
  received: '到账金额（元）',
  code: '汇款码 / 订单号',
  reference: '银行或支付流水号',
  note: '备注',
  by: '操作人',
  confirmedBy: '确认人',
  ended: '完成时间',
  movement: '流水号',
  methods: { remittance: '银行汇款', online: '在线支付', admin: '管理员充值' } satisfies Record<TopupMethod, string>,
  statuses: { waiting: '待付款', confirmed: '已到账', expired: '已过期', cancelled: '已取消' } satisfies Record<TopupStatus, string>,
} as const
