import type { CallOutcome, EventType } from '@zhisuan/contract/omc/log'

/** Headings and words of the logs as files. */
export const logTexts = {
  at: '时间',
  call: '操作',
  method: '方法',
  outcome: '结果',
  status: '状态码',
  code: '结果码',
  ms: '耗时（毫秒）',
  actor: '操作人',
  organisation: '组织',
  ip: '来源IP',
  request: '请求ID',
  type: '类型',
  what: '事件',
  about: '对象',
  aboutId: '对象ID',
  text: '说明',
  calls: 'api-logs',
  events: 'events',
} as const

export const outcomeTexts: Readonly<Record<CallOutcome, string>> = { ok: '成功', refused: '被拒绝', failed: '失败' }
export const typeTexts: Readonly<Record<EventType, string>> = { change: '变更', operation: '任务', message: '消息', alarm: '告警' }
export const eventOutcomeTexts = { running: '进行中', succeeded: '成功', failed: '失败', cancelled: '已取消' } as const
