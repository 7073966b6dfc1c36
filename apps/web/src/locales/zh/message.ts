import * as words from './words.ts'

/** The message centre: /messages, and what the bell shows of it. */
export default {
  title: '消息',
  newest: '最新消息',
  unread: '未读',
  read: '已读',
  markRead: '标为已读',
  markAll: '全部标为已读',
  markAllOf: '“{{category}}”全部标为已读',
  viewAll: '查看全部',
  what: '内容',
  at: words.time,
  search: '搜索消息内容',
  failed: '消息未能加载',
  empty: '还没有消息',
  emptyNote: '费用、安全、资源和平台的重要变化会在这里告诉您。',
  categories: '消息类别',
  category: { all: words.all, money: words.charges, security: '安全', resource: words.resource, platform: words.platform },
  kind: {
    bill: {
      low: '余额不足提醒',
      arrears: '账户欠费',
      suspensionNear: '即将暂停服务',
      suspended: '服务已暂停',
      resumed: '服务已恢复',
      budget: '预算提醒',
      budgetForecast: '预算预测提醒',
    },
    ums: { attacked: '密码被猜测' },
    iam: { requested: '有人申请权限' },
    ecrm: { edgeAway: words.nodeOffline },
    compute: { projectLost: '资源丢失', projectWrong: '项目异常' },
    ticket: { said: '工单有新进展', came: '工单待处理', late: '工单超时' },
    cmp: { cloudUnreachable: '云平台连接不上', cloudReachable: '云平台恢复连接' },
  },
} as const
