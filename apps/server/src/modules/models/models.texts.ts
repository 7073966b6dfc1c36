/** Chinese words of what the server itself writes about models. */
export const importTexts = {
  path: (path: string): string => `文件名“${path.slice(0, 200)}”不能使用`,
  twice: (path: string): string => `文件名“${path.slice(0, 200)}”重复`,
  empty: '该版本没有文件',
  elsewhere: '对方转到了不允许的地址',
  tooLong: '对方的回答过长',
  tooManyPages: (pages: number): string => `对方把文件列表分成了超过${pages}页，无法取全`,
  notTheirs: (name: string): string => `${name}已不能导入到该模型`,
  givenUp: '一周内没有完成，已放弃',
  modelGone: '模型已被删除',
  unreadable: '对方的回答不是模型库的格式',
  wrong: (path: string): string => `“${path}”与它的校验值不符`,
  message: ({ repository, revision }: { readonly repository: string; readonly revision: string }): string => `导入 ${repository}（${revision}）`,
} as const
