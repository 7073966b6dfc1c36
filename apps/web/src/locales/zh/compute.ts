/** What all pages of the second cloud family say. */
export default {
  notice: {
    toClouds: '查看云平台',
    maintenance: '云平台“{{name}}”维护中',
    maintenanceNote: '可以查看，暂不能更改。',
    offline: '云平台“{{name}}”已下线',
    offlineNote: '租户看不到该云平台。',
    unreachable: '暂时无法连接云平台“{{name}}”',
    unreachableNote: '列表可能读不出来，操作可能失败。',
    unauthorised: '云平台“{{name}}”拒绝了登记的账号',
    unauthorisedNote: '请平台管理员更新云平台的连接信息。',
  },
} as const
