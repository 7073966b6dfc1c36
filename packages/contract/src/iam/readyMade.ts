import { allCalls } from '../calls.ts'
import type { Call } from '../define.ts'
import { policyLanguage, type PolicyDocument } from '../policy/document.ts'
import { tenantRoles, type Role } from '../roles.ts'

/**
 * Policies that every organisation finds ready, each with a role of the same name. What they allow is said by kinds of
 * things and read off the declared calls, so that a call that comes later is in them; the server keeps their rows as it
 * stands here. Nobody changes them: whoever wants another makes a copy.
 */
export interface ReadyMade {
  /** Never changed: rows are known by it. */
  readonly key: string
  readonly name: string
  readonly about: string
  /** Of the role: the most that it may allow, and which pages the console has for who has it. */
  readonly base: (typeof tenantRoles)[number]
  /** Families or kinds whose calls are allowed as far as they only read. */
  readonly reads: readonly string[]
  /** Kinds, or whole families, of which everything is allowed. */
  readonly all: readonly string[]
  /** Single calls beside. */
  readonly calls: readonly string[]
  /** Calls whose work others do on things of one kind only: `zrn:<service>:*:<type>/*`. */
  readonly on?: { readonly resource: string; readonly calls: readonly string[] }
}

/** Made by people of an organisation. Calls for everybody are no part of a policy: nobody is kept from them by its absence. */
const ofTenants = ({ access, onlyByPolicy }: Call): boolean =>
  typeof access !== 'string' && onlyByPolicy.length === 0 && tenantRoles.some((role: Role) => access.includes(role))

/** Whatever changes something is in the audit log, also where it is asked by GET; what is not, only tells. */
const reads = ({ audit }: Call): boolean => !audit

/** Who made them, where a row says by whom. */
export const readyMadeBy = '系统'

export const tenantCalls: readonly Call[] = allCalls.filter(ofTenants)

/** What every page of the console asks: the clouds to switch between, and what has changed. */
const everyPage = ['cmp.cloud.list', 'cmp.cloud.basicInfo', 'sys.change.wait'] as const

export const readyMade: readonly ReadyMade[] = [
  {
    key: 'readOnly',
    name: '全部只读',
    about: '查看本组织的一切，不能更改任何内容',
    base: 'TENANT',
    reads: [...new Set(tenantCalls.map(({ id }) => id.slice(0, id.indexOf('.'))))],
    all: [],
    calls: [],
  },
  {
    key: 'machines',
    name: '云主机运维',
    about: '创建、启停、登录和管理云主机，包括快照、密钥对和批量命令；网络与存储只读',
    base: 'TENANT',
    reads: ['nextstack', 'compute'],
    all: [
      'nextstack.vm',
      'nextstack.terminal',
      'nextstack.command',
      'nextstack.keyPair',
      'nextstack.snapshot',
      'nextstack.snapshotSchedule',
      'compute.instance',
      'compute.serverGroup',
      'compute.recycled',
    ],
    // What their calls do besides.
    calls: ['bill.quote.ask', 'compute.volume.create', 'compute.volume.attach', 'compute.volume.detach', 'compute.port.create', 'compute.image.create'],
  },
  {
    key: 'containers',
    name: '容器与应用运维',
    about: '部署和管理容器、应用、模板、配置与镜像仓库中的镜像，在文件空间与容器之间传送文件；节点只读',
    base: 'TENANT',
    reads: ['ecrm', 'files'],
    all: ['cis', 'aos', 'ims', 'files.machine'],
    // Images are brought to nodes.
    calls: ['bill.quote.ask', 'ecrm.edge.pullImage', 'files.entry.download', 'files.space.upload'],
  },
  {
    key: 'nodes',
    name: '节点运维',
    about: '接入、标记、升级和移除节点，管理节点上的镜像；查看统计与指标，管理告警规则和通知方式，处理告警',
    base: 'TENANT',
    reads: ['cis', 'aos', 'omc'],
    all: ['ecrm', 'omc.alarm', 'omc.alertLog', 'omc.alarmWindow', 'omc.receiver', 'omc.eventSubscription'],
    // Images are pulled to nodes.
    calls: ['ims.repository.pull'],
  },
  {
    key: 'network',
    name: '网络管理员',
    about: '管理网络、子网、路由、安全组、防火墙、NAT网关和公网地址；云主机只读',
    base: 'TENANT',
    reads: ['nextstack', 'compute'],
    all: [
      'nextstack.vpc',
      'nextstack.securityGroup',
      'nextstack.nat',
      'nextstack.eip',
      'compute.network',
      'compute.subnet',
      'compute.port',
      'compute.router',
      'compute.floatingIp',
      'compute.securityGroup',
      'compute.firewallGroup',
      'compute.firewallPolicy',
      'compute.firewallRule',
    ],
    calls: ['bill.quote.ask', 'nextstack.vm.setSecurityGroups'],
  },
  {
    key: 'storage',
    name: '镜像与存储',
    about: '管理镜像、云硬盘及其快照和备份；云主机只读',
    base: 'TENANT',
    reads: ['nextstack', 'compute'],
    all: [
      'nextstack.image',
      'nextstack.volume',
      'nextstack.volumeSnapshot',
      'nextstack.volumeBackup',
      'compute.image',
      'compute.volume',
      'compute.volumeSnapshot',
      'compute.volumeBackup',
      'compute.volumeTransfer',
    ],
    calls: ['bill.quote.ask', 'compute.instance.attachVolume', 'compute.instance.detachVolume'],
  },
  {
    key: 'files',
    name: '文件管理',
    about: '上传、下载、整理和分享自己与组织的文件，维护组织的模型；不能发布到公共空间',
    base: 'TENANT',
    reads: [],
    all: ['files.space', 'files.entry', 'files.upload', 'files.share', 'models'],
    calls: [],
  },
  {
    key: 'market',
    name: '算力租用与供应',
    about: '在算力市场租用、启停和释放机器，维护组织自己的卡和报价；其他容器与节点只读',
    base: 'TENANT',
    reads: ['cis', 'ecrm'],
    all: ['market'],
    calls: ['bill.quote.ask', 'cis.container.terminal', 'cis.container.fileLink', 'cis.container.logLink', 'ims.repository.pull'],
    // A machine that is rented is a container; others stay as they are.
    on: { resource: 'zrn:market:*:rental/*', calls: ['cis.container.deploy', 'cis.container.action', 'cis.container.delete'] },
  },
  {
    key: 'finance',
    name: '财务',
    about: '查看和导出账单、订单与流水，充值和开具发票；不能下单或退订',
    base: 'TENANT',
    reads: ['bill'],
    all: ['bill.topup', 'bill.invoice', 'bill.invoiceTitle'],
    calls: ['bill.account.exportEntries', 'bill.consume.export', 'bill.consume.exportMonth', 'bill.order.export'],
  },
  {
    key: 'people',
    name: '成员与权限管理',
    about: '邀请和管理成员、项目、角色、策略与访问密钥；不能授予超出自己权限的操作',
    base: 'TENANT_ADMIN',
    reads: ['ums', 'iam'],
    all: ['ums.user', 'ums.invitation', 'ums.accessKey', 'iam.policy', 'iam.role', 'iam.project', 'iam.grant'],
    calls: [],
  },
  {
    key: 'auditor',
    name: '审计只读',
    about: '查看和导出操作审计与 API 日志，查看成员、角色、策略与授权；不能更改任何内容',
    base: 'TENANT_ADMIN',
    reads: ['ums', 'iam', 'omc.apiLog'],
    all: [],
    calls: ['iam.audit.export', 'omc.apiLog.export'],
  },
]

const isOf =
  (group: string) =>
  (call: Call): boolean =>
    call.id.startsWith(`${group}.`)

/** Ids of all calls that it allows, in the order of their declarations. */
export const actionsOf = (made: Pick<ReadyMade, 'reads' | 'all' | 'calls'>): readonly string[] =>
  tenantCalls
    .filter(
      (call) =>
        (reads(call) && made.reads.some((group) => isOf(group)(call))) ||
        made.all.some((group) => isOf(group)(call)) ||
        [...everyPage, ...made.calls].includes(call.id),
    )
    .map(({ id }) => id)

/** A statement for each family: so it is read, and so explanations name it. */
export function documentOf(made: ReadyMade): PolicyDocument {
  const families = Map.groupBy(actionsOf(made), (id) => id.slice(0, id.indexOf('.')))
  return {
    Version: policyLanguage,
    Statement: [
      ...[...families].map(([family, Action]) => ({ Sid: family, Effect: 'Allow' as const, Action, Resource: '*' })),
      ...(made.on === undefined ? [] : [{ Sid: `${made.key}On`, Effect: 'Allow' as const, Action: [...made.on.calls], Resource: made.on.resource }]),
    ],
  }
}
