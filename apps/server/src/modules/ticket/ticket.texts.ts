/** What is told of work orders, in the bell and by mail. */
export const ticketTexts = {
  answered: (number: string, title: string) => `工单 ${number}“${title}”有新的回复`,
  asked: (number: string, title: string) => `工单 ${number}“${title}”需要您补充信息`,
  resolved: (number: string, title: string, days: number) => `工单 ${number}“${title}”已处理，请确认；${days}天内没有确认将自动完成`,
  came: (number: string, title: string) => `工单 ${number}“${title}”转到了您这里`,
  opened: (number: string, title: string) => `新工单 ${number}“${title}”等待受理`,
  said: (number: string, title: string, name: string) => `“${name}”回复了工单 ${number}“${title}”`,
  reopened: (number: string, title: string, name: string) => `“${name}”没有确认工单 ${number}“${title}”，请继续处理`,
  urged: (number: string, title: string, name: string) => `“${name}”催办工单 ${number}“${title}”`,
  toReview: (number: string, title: string) => `工单 ${number}“${title}”的处理结果等待审核`,
  refused: (number: string, title: string) => `工单 ${number}“${title}”的处理结果没有通过审核`,
  late: (number: string, title: string) => `工单 ${number}“${title}”已超过约定的时间`,
} as const
