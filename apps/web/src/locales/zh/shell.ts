export default {
  error: {
    timeout: '请求超时，请检查网络后重试',
    offline: '无法连接服务器，请检查网络后重试',
    unknown: '未知状态',
    oneTerminal: '同一时间只能打开一个终端',
  },
} as const
