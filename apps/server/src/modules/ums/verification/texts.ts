/** What is written in the messages that carry codes. */
export const messageTexts = {
  subject: '智算云验证码',
  code: (code: string, minutes: number): string => `【智算云】您的验证码是${code}，${minutes}分钟内有效。如非本人操作，请忽略本消息。`,
}
