/** What is told of differences. */
export const reconciliationTexts = {
  found: (day: string, count: number): string => `${day}的付款对账有${count}项差异，请处理`,
  stuck: (count: number): string => `有${count}笔付款发出三天后仍没有结果，请处理`,
} as const
