/** Words of what is sent of events. */
export const eventTexts = {
  line: '{about} {what} {outcome} {by}',
  noRight: '订阅人已无权查看这一事件，没有发送',
} as const
