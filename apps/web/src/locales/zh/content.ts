import * as words from './words.ts'

/** Message board (/messageBoard) and terms of service (/Terms-of-Service). */
export default {
  board: {
    title: '留言板',
    lead: '有建议、问题或合作意向，都可以在这里告诉我们。平台管理员会通过您留下的手机号联系您。',
    privacy: '您的称呼、手机号和留言内容仅供平台管理员查看和联系您使用，见',
    terms: '服务条款',
    leaveTab: '我要留言',
    listTab: '收到的留言',
    name: '称呼',
    nameHint: '怎么称呼您，例如“张先生”',
    phone: words.phone,
    code: words.code,
    codeHint: '6位数字，5分钟内有效',
    codeSent: '验证码已发送到 {{phone}}',
    content: '留言内容',
    submit: '提交留言',
    doneTitle: '留言已提交',
    doneText: '感谢您的留言，平台管理员会尽快与您联系。',
    again: '再写一条',
    home: '返回首页',
    unavailable: '暂时不能留言',
    unavailableText: '留言需要用短信验证手机号，而本平台还没有配置短信服务。请直接联系您的平台管理员。',
    search: '搜索留言内容',
    empty: '还没有收到留言',
    emptyText: '访客在留言板提交的留言会显示在这里。',
    leftAt: '留言时间',
  },
  terms: {
    contents: '目录',
    updated: '更新日期：{{date}}',
    print: '打印',
    loadFailed: '服务条款加载失败',
    empty: '服务条款没有内容',
  },
} as const
