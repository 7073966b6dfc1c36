import type { Purpose } from './verification/verification.service.ts'

/** What each code is for, as its message says it. */
const purposes: Readonly<Record<Purpose, string>> = {
  registration: '注册账号',
  auth: '登录或找回密码',
  consultation: '提交留言',
  'patch-phone': '更换手机号',
  'auth-email': '验证身份',
  'patch-email': '更换邮箱',
}

/** The bodies of all messages that people are sent. */
export const messageTexts = {
  subject: '智算云验证码',
  code: (purpose: Purpose, code: string, minutes: number): string =>
    `【智算云】您的验证码为${code}，用于${purposes[purpose]}，${minutes}分钟内有效。请勿告知他人；如非本人操作，请忽略本消息。`,
}
