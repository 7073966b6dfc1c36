import type { NoticeKind } from '@zhisuan/contract/bill/notice'
import { billingZone } from '@zhisuan/contract/bill/meter'
import type { NoticeValues } from '../bill/notice/notice.service.ts'
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

/** As the platform's name stands before what people are sent. */
const signed = (text: string): string => `【智算云】${text}`

/** The bodies of all messages that people are sent; those that are told within the console too come without the name. */
export const messageTexts = {
  subject: '智算云验证码',
  code: (purpose: Purpose, code: string, minutes: number): string =>
    signed(`您的验证码为${code}，用于${purposes[purpose]}，${minutes}分钟内有效。请勿告知他人；如非本人操作，请忽略本消息。`),

  attackedSubject: '智算云安全提醒',
  attacked: (user: string): string =>
    `多个来源正在猜测用户“${user}”的密码，这些来源已被冻结，该用户登录过的设备不受影响。请确认该用户已开启两步验证；来源地址见审计日志。`,

  noticeSubject: '智算云费用通知',
  /** Money comes as it is to be shown. */
  notice: (kind: NoticeKind, organisation: string, values: NoticeValues): string => notices[kind](organisation, values),

  signed,
}

const moment = new Intl.DateTimeFormat('zh-CN', { timeZone: billingZone, dateStyle: 'long', timeStyle: 'short' })
const until = (grace: Date | null | undefined): string => (grace == null ? '' : `，将于${moment.format(grace)}暂停服务`)

const notices: Readonly<Record<NoticeKind, (organisation: string, values: NoticeValues) => string>> = {
  low: (organisation, { available }) => `组织“${organisation}”的可用余额为${available ?? ''}元，已低于提醒线，请及时充值。`,
  arrears: (organisation, { arrears, grace_until }) => `组织“${organisation}”已欠费${arrears ?? ''}元${until(grace_until)}，请尽快充值。`,
  suspensionNear: (organisation, { arrears, grace_until }) =>
    `组织“${organisation}”欠费${arrears ?? ''}元${until(grace_until)}，届时正在运行的资源会被停止，请尽快充值。`,
  suspended: (organisation, { arrears }) =>
    `组织“${organisation}”因欠费${arrears ?? ''}元已暂停服务：正在运行的资源按策略停止，不能启动或新建资源。充值结清后恢复。`,
  resumed: (organisation, { resume }) =>
    `组织“${organisation}”的欠费已结清，服务已恢复。${resume === true ? '因欠费停止的资源正在自动启动。' : '因欠费停止的资源请自行启动。'}`,
  budget: (organisation, { budget }) =>
    `组织“${organisation}”的预算“${budget?.name ?? ''}”本月已用${budget?.spent ?? ''}元，达到预算${budget?.amount ?? ''}元的${budget?.percent ?? ''}%。`,
  budgetForecast: (organisation, { budget }) =>
    `组织“${organisation}”的预算“${budget?.name ?? ''}”预计本月共用${budget?.forecast ?? ''}元（目前已用${budget?.spent ?? ''}元），达到预算${budget?.amount ?? ''}元的${budget?.percent ?? ''}%。`,
}
