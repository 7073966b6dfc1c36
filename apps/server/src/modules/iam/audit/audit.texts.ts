/** Headings of the audit log as a file. */
export const auditTexts = {
  number: '编号',
  at: '时间',
  call: '操作',
  actorId: '操作人ID',
  actorName: '操作人',
  organisation: '组织ID',
  object: '对象ID',
  request: '请求ID',
  ip: '来源IP',
  code: '结果码',
  accessKeyId: '访问密钥ID',
  accessKeyName: '访问密钥',
  hash: '校验值',
} as const
