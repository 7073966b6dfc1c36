/** What stands in files of consumption, as people read them. */
export const consumeTexts = {
  lines: {
    file: '消费明细',
    from: '开始时间',
    seconds: '时长（秒）',
    organisation: '组织',
    project: '项目',
    resource: '资源',
    resourceType: '资源类型',
    resourceId: '资源 ID',
    product: '产品',
    sku: '计费项',
    meter: '计量项',
    variant: '规格',
    quantity: '用量',
    formula: '计算公式',
    fraction: '折扣',
    discount: '折扣名称',
    priceFrom: '价格生效时间',
    amount: '金额（元）',
  },
  month: {
    file: '月度账单',
    dimension: '维度',
    key: '名称',
    type: '资源类型',
    organisation: '组织',
    id: 'ID',
    amount: '金额（元）',
    noProject: '未归入项目',
    dimensions: { month: '合计', day: '日期', product: '产品', project: '项目', resource: '资源' },
  },
  /** Others are called by their own name. */
  types: {
    vm: '云主机', volume: '云硬盘', eip: '弹性公网 IP', snapshot: '云主机快照', volumeSnapshot: '云硬盘快照', volumeBackup: '云硬盘备份', image: '镜像',
    'compute.instance': '云主机', 'compute.volume': '云硬盘', 'compute.floatingIp': '浮动 IP', 'compute.volumeSnapshot': '云硬盘快照', 'compute.volumeBackup': '云硬盘备份', 'compute.image': '镜像',
  } as Readonly<Record<string, string>>,
} as const
