/** What people call each kind of thing, by how the calls about it begin: `nextstack.vm`. A kind is named here first. */
export const kindTexts = {
  sys: {
    config: '设置',
    licence: '许可证',
    change: '变化通知',
    message: '消息',
    bundle: '程序包',
  },
  ums: {
    auth: '登录',
    verification: '验证码',
    user: '用户',
    organisation: '组织',
    consultation: '留言',
    invitation: '邀请',
    secondFactor: '第二因子',
    passkey: '通行密钥',
    identityProvider: '身份提供方',
    identity: '关联账号',
    singleSignOn: '单点登录',
    accessKey: '访问密钥',
  },
  bill: {
    account: '账户',
    category: '产品分类',
    product: '产品',
    sku: '计费项',
    discount: '折扣',
    quote: '报价',
    priceList: '价目表',
    unpriced: '未定价的用量',
    consume: '消费',
    arrearsPolicy: '欠费策略',
    standing: '账户状态',
    notice: '费用通知',
    budget: '预算',
    order: '订单',
    prepaid: '预付',
    topup: '充值',
    paymentChannel: '支付渠道',
    invoice: '发票',
    invoiceTitle: '发票抬头',
  },
  cmp: {
    cloud: '云平台',
  },
  compute: {
    project: 'Keystone 项目',
    flavor: '规格',
    volume: '云硬盘',
    volumeType: '云硬盘类型',
    volumeSnapshot: '云硬盘快照',
    volumeBackup: '云硬盘备份',
    volumeTransfer: '云硬盘过户',
    network: '网络',
    subnet: '子网',
    port: '端口',
    router: '路由器',
    floatingIp: '浮动 IP',
    image: '镜像',
    securityGroup: '安全组',
    firewall: '防火墙服务',
    firewallGroup: '防火墙',
    firewallPolicy: '防火墙策略',
    firewallRule: '防火墙规则',
    instance: '实例',
    serverGroup: '实例组',
    zone: '可用区',
    recycled: '回收站',
    retention: '回收站保留时间',
  },
  nextstack: {
    vm: '云主机',
    terminal: '终端',
    snapshot: '云主机快照',
    snapshotSchedule: '定时快照策略',
    flavor: '规格',
    keyPair: '密钥对',
    command: '命令',
    image: '镜像',
    network: '云平台网络',
    quota: '配额',
    vpc: '专有网络',
    securityGroup: '安全组',
    nat: 'NAT 网关',
    eip: '弹性公网 IP',
    eipPool: '公网 IP 池',
    volume: '云硬盘',
    volumeSnapshot: '云硬盘快照',
    volumeBackup: '云硬盘备份',
    storagePool: '存储池',
    host: '计算节点',
    overview: '概览',
  },
  aos: {
    template: '应用模板',
    stack: '应用实例',
    service: '应用服务',
    deployment: '应用',
    stackConfig: '应用配置',
    nodeStack: '节点上的应用',
  },
  cis: {
    container: '容器',
    deployment: '容器部署',
    config: '配置',
  },
  ecrm: {
    agent: '节点代理',
    edge: '节点',
    gateway: '网关',
    lookup: '查询',
    region: '区域',
    site: '站点',
    serviceAgent: '服务代理',
    imagePull: '镜像拉取',
  },
  ims: {
    registry: '镜像仓库',
    registryUser: '仓库用户',
    command: '推拉命令',
    project: '镜像项目',
    repository: '镜像',
    tag: '镜像标签',
    tagBin: '标签回收站',
  },
  iam: {
    policy: '策略',
    role: '角色',
    grant: '授权',
    boundary: '权限边界',
    decision: '权限判断',
    service: '服务',
    resource: '资源类型',
    project: '项目',
    audit: '审计日志',
  },
  issue: {
    project: '项目',
  },
} as const

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = kindTexts

/**
 * What people call a kind, named by itself or by a call about it: 云主机 for `nextstack.vm` and `nextstack.vm.start`.
 * @param otherwise of one that is not ours; left out, as its service calls it
 */
export function kindText(kind: string, otherwise?: string): string {
  const [family = '', type = ''] = kind.split('.')
  // Another's service may be called as an object's own inheritance is: `constructor`.
  const types = Object.hasOwn(texts, family) ? texts[family] : undefined
  return (types !== undefined && Object.hasOwn(types, type) ? types[type] : undefined) ?? otherwise ?? type
}

/** The same where kinds of both families of clouds stand together: 实例（OpenStack）. */
export const kindApart = (kind: string): string => (kind.startsWith('compute.') ? `${kindText(kind)}（OpenStack）` : kindText(kind))
