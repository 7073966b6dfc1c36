import type { SpaceKind, TransferKind, TransferOutcome, TransferPlace } from '@zhisuan/contract/files/file'

/** Chinese words of what the server itself writes about files: names of spaces, reasons, headings of exports. */
export const spaceTexts = { personal: '个人空间', organisation: '组织空间', project: '项目空间', public: '公共空间' } as const satisfies Record<
  SpaceKind,
  string
>

/** As bills call what an organisation has in the public space. */
export const publishedText = `${spaceTexts.public}（已发布）`

export const placeTexts = { ...spaceTexts, model: '模型仓库' } as const satisfies Record<TransferPlace, string>

export const transferTexts = {
  file: '传输记录',
  serverEnded: '服务在传输途中停止',
  leftOff: '对方中断了连接',
  cancelled: '已取消',
  kinds: {
    upload: '上传',
    download: '下载',
    publish: '发布',
    share: '分享下载',
    to_machine: '传到机器',
    from_machine: '从机器取回',
    import: '导入',
  } as const satisfies Record<TransferKind, string>,
  outcomes: { running: '进行中', done: '完成', failed: '失败', cancelled: '已取消' } as const satisfies Record<TransferOutcome, string>,
  columns: {
    startedAt: '开始时间',
    endedAt: '结束时间',
    kind: '类型',
    name: '名称',
    space: '空间',
    machine: '机器',
    organisation: '组织',
    user: '用户',
    ip: '来源地址',
    size: '大小（字节）',
    bytes: '已传（字节）',
    rate: '速率（字节/秒）',
    sha256: 'SHA-256',
    outcome: '结果',
    reason: '原因',
  },
} as const

export const archiveName = (first: string, count: number): string => (count === 1 ? `${first}.zip` : `${first}等${count}项.zip`)

const place = '：/'
/** Which machine it says. */
export const machineOf = (text: string): string => text.slice(0, text.includes(place) ? text.indexOf(place) : undefined)
/** Which machine, and where on it. */
export const machineText = (name: string, path: string): string => `${name}：${path}`
