import type { AlarmMetric, Severity } from '@zhisuan/contract/omc/alarm'

/** Words of what is sent. */
export const alarmTexts = {
  severity: { critical: '严重', warning: '警告', info: '提示' } satisfies Record<Severity, string>,
  what: { firing: '告警', resolved: '已恢复', escalated: '告警无人处理', event: '事件', test: '测试' },
  test: '这是一条测试消息：收到它说明通知方式设置正确。',
  digest: '共{count}条',
  cut: '……另有{count}条，请到平台查看：',
  line: '[{severity}] {what}：{summary}',
  missing: '没有数据',
  value: '当前值 {value}{unit}',
  external: '外部告警',
  /** What each metric is called in a line. */
  metrics: {
    node_down: '节点离线',
    node_cpu: 'CPU 使用率',
    node_memory: '内存使用率',
    node_disk: '磁盘使用率',
    node_load: '负载',
    gpu_busy: 'GPU 使用率',
    gpu_idle: 'GPU 空闲',
    gpu_temperature: 'GPU 温度',
    gpu_lost: 'GPU 掉卡',
    gpu_errors: 'GPU 显存错误',
    instance_down: '云主机停止',
    instance_memory: '云主机内存使用率',
    balance_low: '账户余额',
  } satisfies Record<AlarmMetric, string>,
  refused: '对方返回：{answer}',
  unanswered: '没有应答',
  failed: '发送失败',
  forbidden: '不能发往内部地址',
  noMail: '平台没有设置邮件服务器',
  purpose: 'omc.alarm',
} as const
