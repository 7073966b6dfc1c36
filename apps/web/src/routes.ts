import type { ComponentType } from 'react'
import { admins, tenants, type Access, type Role } from '@zhisuan/contract/roles'
import type { LazyNamespace } from './locales/load.ts'
import type routeTitles from './locales/zh/routes.ts'

/** A group of the product drawer and of the sidebar. */
export type RouteGroup =
  | 'public'
  | 'index'
  | 'license'
  | 'general'
  | 'nextStack'
  | 'compute'
  | 'containerApplication'
  | 'serverCluster'
  | 'mirror'
  | 'middleware'
  | 'fileTransfer'
  | 'statistics'
  | 'indent'
  | 'iam'
  | 'platform'
  | 'separateAccounting'
  | 'workOrder'

/** Where a group's menu is divided. */
export type RouteSection =
  | 'compute'
  | 'network'
  | 'storage'
  | 'hardware'
  | 'image'
  | 'cluster'
  | 'helm'
  | 'monitor'
  | 'component'
  | 'billing'
  | 'bills'
  | 'funds'
  | 'split'
  | 'provider'
  | 'data'

export interface Route {
  /** As the specification spells it; `{id}` is a parameter, `{id?}` an optional one. */
  readonly path: string
  readonly group: RouteGroup
  readonly access: Access
  /** Key of locales/zh/routes.ts. */
  readonly title: keyof typeof routeTitles
  /** `menu`: in sidebar and drawer. `hidden`: a detail or add page reached from its parent. `page`: neither. */
  readonly kind: 'menu' | 'hidden' | 'page'
  /** The menu entry to highlight. */
  readonly parent?: string
  /** Where the back button leads; pages without have none. */
  readonly back?: 'parent' | 'history'
  readonly section?: RouteSection
  /** Menus are sorted by it, descending. */
  readonly sort?: number
  /** Absent while the page is pending. */
  readonly page?: () => Promise<{ readonly default: ComponentType }>
  /** Drawn without antd, so that visitors do not wait for it. */
  readonly plain?: true
  /** Messages that have to be there before the page is drawn. */
  readonly messages?: readonly LazyNamespace[]
}

const supporters = ['OPERATION_SUPPORTER', 'ADMIN'] as const satisfies readonly Role[]
const providers = ['OPERATION_SUPPORTER', 'PROVIDER', 'ADMIN'] as const satisfies readonly Role[]

/** Sort numbers of the groups in the drawer, descending like everything in a menu. */
export const groupSort: Readonly<Record<RouteGroup, number>> = {
  index: 1000,
  nextStack: 990,
  compute: 980,
  containerApplication: 970,
  serverCluster: 960,
  mirror: 950,
  middleware: 940,
  fileTransfer: 930,
  statistics: 920,
  indent: 910,
  iam: 900,
  platform: 890,
  separateAccounting: 880,
  license: 870,
  workOrder: 860,
  general: 0,
  public: 0,
}

/**
 * All routes there are. Guard, menus, drawer, sidebar, breadcrumbs and titles read this table, and
 * nothing else decides. It must stay free of component imports: scripts read it without a browser.
 */
export const routes: readonly Route[] = [
  // public
  { path: '/', group: 'public', access: 'public', title: 'welcome', kind: 'page', plain: true, page: () => import('./features/public/WelcomePage.tsx'), messages: ['public'] },
  { path: '/login', group: 'public', access: 'public', title: 'login', kind: 'page', plain: true, page: () => import('./features/public/LoginPage.tsx'), messages: ['public'] },
  { path: '/register', group: 'public', access: 'public', title: 'register', kind: 'page', page: () => import('./features/public/RegisterPage.tsx'), messages: ['public', 'account'] },
  { path: '/messageBoard', group: 'public', access: 'public', title: 'messageBoard', kind: 'page', page: () => import('./features/public-content/MessageBoardPage.tsx'), messages: ['content'] },
  { path: '/Terms-of-Service', group: 'public', access: 'public', title: 'termsOfService', kind: 'page', page: () => import('./features/public-content/TermsPage.tsx'), messages: ['content'] },
  { path: '/market', group: 'public', access: 'public', title: 'market', kind: 'page' },
  { path: '/warehouse', group: 'public', access: 'public', title: 'warehouse', kind: 'page' },
  { path: '/warehouse/{id}', group: 'public', access: 'public', title: 'warehouseDetail', kind: 'hidden', parent: '/warehouse', back: 'parent' },
  { path: '/404', group: 'public', access: 'public', title: 'notFound', kind: 'page', plain: true, page: () => import('./features/public/NotFoundPage.tsx'), messages: ['public'] },

  // index
  { path: '/index', group: 'index', access: ['TENANT_ADMIN', 'ADMIN'], title: 'index', kind: 'menu', sort: 990, page: () => import('./features/overview/OverviewPage.tsx'), messages: ['overview', 'licence', 'nextstackCompute'] },

  // license
  { path: '/license', group: 'license', access: admins, title: 'license', kind: 'menu', sort: 990, page: () => import('./features/licence/LicencePage.tsx'), messages: ['licence'] },

  // general
  { path: '/userMsg', group: 'general', access: 'all', title: 'userMsg', kind: 'page', page: () => import('./features/account/AccountPage.tsx'), messages: ['account'] },
  { path: '/help', group: 'general', access: 'all', title: 'help', kind: 'page', page: () => import('./features/help/HelpPage.tsx'), messages: ['help'] },
  { path: '/help/helpCenter/{id}', group: 'general', access: 'all', title: 'helpHelpCenter', kind: 'hidden', parent: '/help', back: 'parent', page: () => import('./features/help/HelpArticlePage.tsx'), messages: ['help'] },

  // nextStack
  { path: '/nextStack/vm', group: 'nextStack', access: tenants, title: 'nextStackVm', kind: 'menu', section: 'compute', sort: 990, page: () => import('./features/nextstack/vm/VmList.tsx'), messages: ['nextstack', 'snapshot'] },
  { path: '/nextStack/vm/add', group: 'nextStack', access: tenants, title: 'nextStackVmAdd', kind: 'hidden', parent: '/nextStack/vm', back: 'parent', page: () => import('./features/nextstack/vm/VmAdd.tsx'), messages: ['nextstack', 'order'] },
  { path: '/nextStack/vm/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackVmDetail', kind: 'hidden', parent: '/nextStack/vm', back: 'parent', page: () => import('./features/nextstack/vm/VmDetail.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'snapshot', 'order'] },
  { path: '/nextStack/vmCommand', group: 'nextStack', access: tenants, title: 'nextStackVmCommand', kind: 'hidden', parent: '/nextStack/vm', back: 'history', page: () => import('./features/nextstack/command/CommandPage.tsx'), messages: ['nextstack', 'nextstackCompute'] },
  { path: '/nextStack/flavors', group: 'nextStack', access: admins, title: 'nextStackFlavors', kind: 'menu', section: 'compute', sort: 980, page: () => import('./features/nextstack/flavor/FlavorList.tsx'), messages: ['nextstackCompute'] },
  { path: '/nextStack/flavor/detail/{id}', group: 'nextStack', access: admins, title: 'nextStackFlavorDetail', kind: 'hidden', parent: '/nextStack/flavors', back: 'parent', page: () => import('./features/nextstack/flavor/FlavorDetail.tsx'), messages: ['nextstack', 'nextstackCompute'] },
  { path: '/nextStack/snaps', group: 'nextStack', access: tenants, title: 'nextStackSnaps', kind: 'menu', section: 'compute', sort: 970, page: () => import('./features/nextstack/snapshot/SnapshotList.tsx'), messages: ['nextstack', 'snapshot'] },
  { path: '/nextStack/snap/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackSnapDetail', kind: 'hidden', parent: '/nextStack/snaps', back: 'parent', page: () => import('./features/nextstack/snapshot/SnapshotDetail.tsx'), messages: ['nextstack', 'snapshot'] },
  { path: '/nextStack/publicKey', group: 'nextStack', access: tenants, title: 'nextStackPublicKey', kind: 'menu', section: 'compute', sort: 960, page: () => import('./features/nextstack/key-pair/KeyPairList.tsx'), messages: ['nextstackCompute'] },
  { path: '/nextStack/publicKey/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackPublicKeyDetail', kind: 'hidden', parent: '/nextStack/publicKey', back: 'parent', page: () => import('./features/nextstack/key-pair/KeyPairDetail.tsx'), messages: ['nextstackCompute'] },
  { path: '/nextStack/vpc', group: 'nextStack', access: tenants, title: 'nextStackVpc', kind: 'menu', section: 'network', sort: 950, page: () => import('./features/nextstack/network/VpcList.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/vpc/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackVpcDetail', kind: 'hidden', parent: '/nextStack/vpc', back: 'parent', page: () => import('./features/nextstack/network/VpcDetail.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/secGroups', group: 'nextStack', access: tenants, title: 'nextStackSecGroups', kind: 'menu', section: 'network', sort: 940, page: () => import('./features/nextstack/network/SecurityGroupList.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/secGroups/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackSecGroupsDetail', kind: 'hidden', parent: '/nextStack/secGroups', back: 'parent', page: () => import('./features/nextstack/network/SecurityGroupDetail.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/Nat', group: 'nextStack', access: tenants, title: 'nextStackNat', kind: 'menu', section: 'network', sort: 930, page: () => import('./features/nextstack/network/NatList.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/Nat/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackNatDetail', kind: 'hidden', parent: '/nextStack/Nat', back: 'parent', page: () => import('./features/nextstack/network/NatDetail.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/eip', group: 'nextStack', access: tenants, title: 'nextStackEip', kind: 'menu', section: 'network', sort: 920, page: () => import('./features/nextstack/network/EipList.tsx'), messages: ['nextstack', 'network', 'order'] },
  { path: '/nextStack/eip/add', group: 'nextStack', access: tenants, title: 'nextStackEipAdd', kind: 'hidden', parent: '/nextStack/eip', back: 'parent', page: () => import('./features/nextstack/network/EipAdd.tsx'), messages: ['nextstack', 'network', 'order'] },
  { path: '/nextStack/eipPool', group: 'nextStack', access: admins, title: 'nextStackEipPool', kind: 'menu', section: 'network', sort: 910, page: () => import('./features/nextstack/network/EipPoolList.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/eipPool/detail/{id}', group: 'nextStack', access: admins, title: 'nextStackEipPoolDetail', kind: 'hidden', parent: '/nextStack/eipPool', back: 'parent', page: () => import('./features/nextstack/network/EipPoolDetail.tsx'), messages: ['nextstack', 'network'] },
  { path: '/nextStack/volumes', group: 'nextStack', access: tenants, title: 'nextStackVolumes', kind: 'menu', section: 'storage', sort: 900, page: () => import('./features/nextstack/storage/VolumeList.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'order'] },
  { path: '/nextStack/volumes/add', group: 'nextStack', access: tenants, title: 'nextStackVolumesAdd', kind: 'hidden', parent: '/nextStack/volumes', back: 'parent', page: () => import('./features/nextstack/storage/VolumeAdd.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'order'] },
  { path: '/nextStack/volumes/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackVolumesDetail', kind: 'hidden', parent: '/nextStack/volumes', back: 'parent', page: () => import('./features/nextstack/storage/VolumeDetail.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'order'] },
  { path: '/nextStack/volumes/restore/{id}', group: 'nextStack', access: tenants, title: 'nextStackVolumesRestore', kind: 'hidden', parent: '/nextStack/volumes', back: 'parent', page: () => import('./features/nextstack/storage/VolumeRestore.tsx'), messages: ['nextstack', 'storage'] },
  { path: '/nextStack/volumesSnap', group: 'nextStack', access: tenants, title: 'nextStackVolumesSnap', kind: 'menu', section: 'storage', sort: 890, page: () => import('./features/nextstack/storage/SnapshotList.tsx'), messages: ['nextstack', 'storage'] },
  { path: '/nextStack/volumesSnap/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackVolumesSnapDetail', kind: 'hidden', parent: '/nextStack/volumesSnap', back: 'parent', page: () => import('./features/nextstack/storage/SnapshotDetail.tsx'), messages: ['nextstack', 'storage'] },
  { path: '/nextStack/hypervisorNodes', group: 'nextStack', access: admins, title: 'nextStackHypervisorNodes', kind: 'menu', section: 'hardware', sort: 880, page: () => import('./features/nextstack/host/HostList.tsx'), messages: ['nextstack', 'hardware'] },
  { path: '/nextStack/hypervisorNodes/detail/{id}', group: 'nextStack', access: admins, title: 'nextStackHypervisorNodesDetail', kind: 'hidden', parent: '/nextStack/hypervisorNodes', back: 'parent', page: () => import('./features/nextstack/host/HostDetail.tsx'), messages: ['nextstack', 'hardware'] },
  { path: '/nextStack/storagePool', group: 'nextStack', access: admins, title: 'nextStackStoragePool', kind: 'menu', section: 'hardware', sort: 870, page: () => import('./features/nextstack/storage/StoragePoolList.tsx'), messages: ['nextstack', 'storage'] },
  { path: '/nextStack/storagePool/detail/{id}', group: 'nextStack', access: admins, title: 'nextStackStoragePoolDetail', kind: 'hidden', parent: '/nextStack/storagePool', back: 'parent', page: () => import('./features/nextstack/storage/StoragePoolDetail.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'order'] },
  { path: '/nextStack/publicImage', group: 'nextStack', access: admins, title: 'nextStackPublicImage', kind: 'menu', section: 'image', sort: 860, page: () => import('./features/nextstack/image/PublicImageList.tsx'), messages: ['nextstack', 'nextstackCompute', 'snapshot', 'storage', 'image'] },
  { path: '/nextStack/publicImage/detail/{id}', group: 'nextStack', access: admins, title: 'nextStackPublicImageDetail', kind: 'hidden', parent: '/nextStack/publicImage', back: 'parent', page: () => import('./features/nextstack/image/ImageDetail.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'image'] },
  { path: '/nextStack/privateImage', group: 'nextStack', access: tenants, title: 'nextStackPrivateImage', kind: 'menu', section: 'image', sort: 850, page: () => import('./features/nextstack/image/PrivateImageList.tsx'), messages: ['nextstack', 'nextstackCompute', 'snapshot', 'storage', 'image'] },
  { path: '/nextStack/privateImage/detail/{id}', group: 'nextStack', access: tenants, title: 'nextStackPrivateImageDetail', kind: 'hidden', parent: '/nextStack/privateImage', back: 'parent', page: () => import('./features/nextstack/image/ImageDetail.tsx'), messages: ['nextstack', 'nextstackCompute', 'storage', 'image'] },

  // compute
  { path: '/instance', group: 'compute', access: tenants, title: 'instance', kind: 'menu', section: 'compute', sort: 990, page: () => import('./features/compute/instance/InstanceList.tsx'), messages: ['compute', 'computeInstance', 'computeTenancy', 'computeFloatingIp', 'order'] },
  { path: '/instance-recovery', group: 'compute', access: tenants, title: 'instanceRecovery', kind: 'menu', section: 'compute', sort: 980, page: () => import('./features/compute/recycle/RecycleBin.tsx'), messages: ['compute', 'computeInstance'] },
  { path: '/instanceadd', group: 'compute', access: tenants, title: 'instanceadd', kind: 'hidden', parent: '/instance', back: 'parent', page: () => import('./features/compute/instance/InstanceAdd.tsx'), messages: ['compute', 'computeInstance', 'computeTenancy', 'order'] },
  { path: '/instancedesc/{id}', group: 'compute', access: tenants, title: 'instancedesc', kind: 'hidden', parent: '/instance', back: 'parent', page: () => import('./features/compute/instance/InstanceDetail.tsx'), messages: ['compute', 'computeInstance', 'computeFloatingIp', 'order'] },
  { path: '/instance-snapshot', group: 'compute', access: tenants, title: 'instanceSnapshot', kind: 'menu', section: 'compute', sort: 970, page: () => import('./features/compute/image/InstanceSnapshotList.tsx'), messages: ['compute', 'computeImage'] },
  { path: '/instance-snapshotdesc/{id}', group: 'compute', access: tenants, title: 'instanceSnapshotdesc', kind: 'hidden', parent: '/instance-snapshot', back: 'parent', page: () => import('./features/compute/image/ImageDetail.tsx'), messages: ['compute', 'computeImage'] },
  { path: '/flavor', group: 'compute', access: tenants, title: 'flavor', kind: 'menu', section: 'compute', sort: 960, page: () => import('./features/compute/flavor/FlavorList.tsx'), messages: ['compute', 'computeFlavor'] },
  { path: '/flavordesc/{id}', group: 'compute', access: tenants, title: 'flavordesc', kind: 'hidden', parent: '/flavor', back: 'parent', page: () => import('./features/compute/flavor/FlavorDetail.tsx'), messages: ['compute', 'computeFlavor'] },
  { path: '/image', group: 'compute', access: tenants, title: 'image', kind: 'menu', section: 'compute', sort: 950, page: () => import('./features/compute/image/ImageList.tsx'), messages: ['compute', 'computeImage'] },
  { path: '/imagedesc/{id}', group: 'compute', access: tenants, title: 'imagedesc', kind: 'hidden', parent: '/image', back: 'parent', page: () => import('./features/compute/image/ImageDetail.tsx'), messages: ['compute', 'computeImage'] },
  { path: '/imageadd', group: 'compute', access: tenants, title: 'imageadd', kind: 'hidden', parent: '/image', back: 'parent', page: () => import('./features/compute/image/ImageAdd.tsx'), messages: ['compute', 'computeImage', 'computeTenancy'] },
  { path: '/keypair', group: 'compute', access: tenants, title: 'keypair', kind: 'menu', section: 'compute', sort: 940, page: () => import('./features/nextstack/key-pair/KeyPairList.tsx'), messages: ['nextstackCompute'] },
  { path: '/keypairdesc/{id}', group: 'compute', access: tenants, title: 'keypairdesc', kind: 'hidden', parent: '/keypair', back: 'parent', page: () => import('./features/nextstack/key-pair/KeyPairDetail.tsx'), messages: ['nextstackCompute'] },
  { path: '/networks', group: 'compute', access: tenants, title: 'networks', kind: 'menu', section: 'network', sort: 930, page: () => import('./features/compute/network/NetworkList.tsx'), messages: ['compute', 'computeNetwork', 'computeTenancy'] },
  { path: '/networksdesc/{id}', group: 'compute', access: tenants, title: 'networksdesc', kind: 'hidden', parent: '/networks', back: 'parent', page: () => import('./features/compute/network/NetworkDetail.tsx'), messages: ['compute', 'computeNetwork'] },
  { path: '/subnetdesc/{id}/{network_id}', group: 'compute', access: tenants, title: 'subnetdesc', kind: 'hidden', parent: '/networks', back: 'history', page: () => import('./features/compute/network/SubnetDetail.tsx'), messages: ['compute', 'computeNetwork'] },
  { path: '/port', group: 'compute', access: tenants, title: 'port', kind: 'menu', section: 'network', sort: 920, page: () => import('./features/compute/network/PortList.tsx'), messages: ['compute', 'computeNetwork', 'computeTenancy'] },
  { path: '/portdesc/{id}', group: 'compute', access: tenants, title: 'portdesc', kind: 'hidden', parent: '/port', back: 'parent', page: () => import('./features/compute/network/PortDetail.tsx'), messages: ['compute', 'computeNetwork'] },
  { path: '/router', group: 'compute', access: tenants, title: 'router', kind: 'menu', section: 'network', sort: 910, page: () => import('./features/compute/network/RouterList.tsx'), messages: ['compute', 'computeNetwork', 'computeTenancy'] },
  { path: '/routerdesc/{id}', group: 'compute', access: tenants, title: 'routerdesc', kind: 'hidden', parent: '/router', back: 'parent', page: () => import('./features/compute/network/RouterDetail.tsx'), messages: ['compute', 'computeNetwork'] },
  { path: '/floatingip', group: 'compute', access: tenants, title: 'floatingip', kind: 'menu', section: 'network', sort: 900, page: () => import('./features/compute/floating-ip/FloatingIpList.tsx'), messages: ['compute', 'computeFloatingIp', 'computeTenancy', 'order'] },
  { path: '/floatingipdesc/{id}', group: 'compute', access: tenants, title: 'floatingipdesc', kind: 'hidden', parent: '/floatingip', back: 'parent', page: () => import('./features/compute/floating-ip/FloatingIpDetail.tsx'), messages: ['compute', 'computeFloatingIp'] },
  { path: '/security-group', group: 'compute', access: tenants, title: 'securityGroup', kind: 'menu', section: 'network', sort: 890, page: () => import('./features/compute/security-group/SecurityGroupList.tsx'), messages: ['compute', 'computeSecurity', 'computeTenancy', 'network'] },
  { path: '/security-groupdesc/{id}', group: 'compute', access: tenants, title: 'securityGroupdesc', kind: 'hidden', parent: '/security-group', back: 'parent', page: () => import('./features/compute/security-group/SecurityGroupDetail.tsx'), messages: ['compute', 'computeNetwork', 'computeSecurity'] },
  { path: '/firewall', group: 'compute', access: tenants, title: 'firewall', kind: 'menu', section: 'network', sort: 880, page: () => import('./features/compute/firewall/GroupList.tsx'), messages: ['compute', 'computeFirewall', 'computeNetwork', 'computeTenancy'] },
  { path: '/firewall-strategy', group: 'compute', access: tenants, title: 'firewallStrategy', kind: 'menu', section: 'network', sort: 870, page: () => import('./features/compute/firewall/PolicyList.tsx'), messages: ['compute', 'computeFirewall', 'computeNetwork', 'computeTenancy'] },
  { path: '/firewall-rule', group: 'compute', access: tenants, title: 'firewallRule', kind: 'menu', section: 'network', sort: 860, page: () => import('./features/compute/firewall/RuleList.tsx'), messages: ['compute', 'computeFirewall', 'computeNetwork', 'computeTenancy'] },
  { path: '/volume', group: 'compute', access: tenants, title: 'volume', kind: 'menu', section: 'storage', sort: 850, page: () => import('./features/compute/storage/VolumeList.tsx'), messages: ['compute', 'computeStorage', 'computeTenancy', 'order'] },
  { path: '/volumedesc/{id}', group: 'compute', access: tenants, title: 'volumedesc', kind: 'hidden', parent: '/volume', back: 'parent', page: () => import('./features/compute/storage/VolumeDetail.tsx'), messages: ['compute', 'computeStorage', 'order'] },
  { path: '/volumeadd', group: 'compute', access: tenants, title: 'volumeadd', kind: 'hidden', parent: '/volume', back: 'parent', page: () => import('./features/compute/storage/VolumeAdd.tsx'), messages: ['compute', 'computeStorage', 'computeTenancy', 'order'] },
  { path: '/backup', group: 'compute', access: tenants, title: 'backup', kind: 'menu', section: 'storage', sort: 840, page: () => import('./features/compute/storage/BackupList.tsx'), messages: ['compute', 'computeStorage'] },
  { path: '/backupdesc/{id}', group: 'compute', access: tenants, title: 'backupdesc', kind: 'hidden', parent: '/backup', back: 'parent', page: () => import('./features/compute/storage/BackupDetail.tsx'), messages: ['compute', 'computeStorage'] },
  { path: '/snapshot', group: 'compute', access: tenants, title: 'snapshot', kind: 'menu', section: 'storage', sort: 830, page: () => import('./features/compute/storage/SnapshotList.tsx'), messages: ['compute', 'computeStorage'] },
  { path: '/snapshotdesc/{id}', group: 'compute', access: tenants, title: 'snapshotdesc', kind: 'hidden', parent: '/snapshot', back: 'parent', page: () => import('./features/compute/storage/SnapshotDetail.tsx'), messages: ['compute', 'computeStorage'] },

  // containerApplication
  { path: '/infrastructure/node', group: 'containerApplication', access: tenants, title: 'infrastructureNode', kind: 'menu', sort: 990, page: () => import('./features/edge/NodeList.tsx'), messages: ['edge'] },
  { path: '/infrastructure/nodeList/{id}', group: 'containerApplication', access: tenants, title: 'infrastructureNodeList', kind: 'hidden', parent: '/infrastructure/node', back: 'parent', page: () => import('./features/edge/NodeDetail.tsx'), messages: ['edge'] },
  { path: '/mirror/imageFromNode/{id}/{name}', group: 'containerApplication', access: tenants, title: 'mirrorImageFromNode', kind: 'hidden', parent: '/infrastructure/node', back: 'history', page: () => import('./features/edge/NodeImages.tsx'), messages: ['edge'] },
  { path: '/infrastructure/addNodes', group: 'containerApplication', access: tenants, title: 'infrastructureAddNodes', kind: 'hidden', parent: '/infrastructure/node', back: 'parent', page: () => import('./features/edge/NodeAdd.tsx'), messages: ['edge'] },
  { path: '/containerApplicationService/containerDeploy', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceContainerDeploy', kind: 'menu', sort: 980, page: () => import('./features/container/DeploymentList.tsx'), messages: ['container'] },
  { path: '/containerApplicationService/addcontainer', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceAddcontainer', kind: 'hidden', parent: '/containerApplicationService/containerDeploy', back: 'parent', page: () => import('./features/container/ContainerAdd.tsx'), messages: ['container', 'nextstackCompute'] },
  { path: '/containerApplicationService/deployContainer/{id}/{name}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceDeployContainer', kind: 'hidden', parent: '/containerApplicationService/containerDeploy', back: 'parent', page: () => import('./features/container/DeploymentContainers.tsx'), messages: ['container', 'nextstackCompute'] },
  { path: '/containerApplicationService/deployContainDetail/{id}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceDeployContainDetail', kind: 'hidden', parent: '/containerApplicationService/containerDeploy', back: 'history', page: () => import('./features/container/ContainerDetail.tsx'), messages: ['container', 'nextstackCompute'] },
  { path: '/containerApplicationService/applicationDeploy', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceApplicationDeploy', kind: 'menu', sort: 970, page: () => import('./features/stack/ApplicationDeploy.tsx'), messages: ['application', 'container'] },
  { path: '/containerApplicationService/deploySystemContainer/{id}/{name}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceDeploySystemContainer', kind: 'hidden', parent: '/containerApplicationService/applicationDeploy', back: 'parent', page: () => import('./features/stack/ApplicationStacks.tsx'), messages: ['application', 'container'] },
  { path: '/containerApplicationService/serviceFromApp/{id}/{name}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceServiceFromApp', kind: 'hidden', parent: '/containerApplicationService/applicationDeploy', back: 'history', page: () => import('./features/stack/StackDetail.tsx'), messages: ['application', 'container', 'nextstack'] },
  { path: '/containerApplicationService/containerFromService/{id}/{name}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceContainerFromService', kind: 'hidden', parent: '/containerApplicationService/applicationDeploy', back: 'history', page: () => import('./features/stack/ServiceContainers.tsx'), messages: ['application', 'container', 'nextstackCompute'] },
  { path: '/containerApplicationService/serviceContainDetail/{id}', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceServiceContainDetail', kind: 'hidden', parent: '/containerApplicationService/applicationDeploy', back: 'history', page: () => import('./features/stack/ServiceContainer.tsx'), messages: ['application', 'container', 'nextstackCompute'] },
  { path: '/containerApplicationService/appTemplate', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceAppTemplate', kind: 'menu', sort: 960, page: () => import('./features/stack/TemplateList.tsx'), messages: ['application'] },
  { path: '/containerApplicationService/version', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceVersion', kind: 'hidden', parent: '/containerApplicationService/appTemplate', back: 'parent', page: () => import('./features/stack/TemplateVersion.tsx'), messages: ['application', 'container'] },
  { path: '/containerApplicationService/appConfigure', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceAppConfigure', kind: 'menu', sort: 950, page: () => import('./features/container/ConfigList.tsx'), messages: ['container'] },
  { path: '/containerApplicationService/configureInformation', group: 'containerApplication', access: tenants, title: 'containerApplicationServiceConfigureInformation', kind: 'hidden', parent: '/containerApplicationService/appConfigure', back: 'parent', page: () => import('./features/container/ConfigDetail.tsx'), messages: ['container'] },
  { path: '/command/{id}/{name}', group: 'containerApplication', access: tenants, title: 'command', kind: 'hidden', parent: '/containerApplicationService/containerDeploy', back: 'history', page: () => import('./features/container/ContainerCommand.tsx'), messages: ['container'] },

  // serverCluster
  { path: '/serverCluster/list', group: 'serverCluster', access: tenants, title: 'serverClusterList', kind: 'menu', section: 'cluster', sort: 990 },
  { path: '/serverCluster/add', group: 'serverCluster', access: tenants, title: 'serverClusterAdd', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/k3sAdd', group: 'serverCluster', access: tenants, title: 'serverClusterK3sAdd', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/import', group: 'serverCluster', access: tenants, title: 'serverClusterImport', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/clusterType', group: 'serverCluster', access: tenants, title: 'serverClusterClusterType', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/edit/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterEdit', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/detail/{id}/{name}', group: 'serverCluster', access: tenants, title: 'serverClusterDetail', kind: 'hidden', parent: '/serverCluster/list', back: 'parent' },
  { path: '/serverCluster/templateList', group: 'serverCluster', access: tenants, title: 'serverClusterTemplateList', kind: 'menu', section: 'cluster', sort: 980 },
  { path: '/serverCluster/templateAdd/{type}/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterTemplateAdd', kind: 'hidden', parent: '/serverCluster/templateList', back: 'parent' },
  { path: '/serverCluster/templateInformation/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterTemplateInformation', kind: 'hidden', parent: '/serverCluster/templateList', back: 'parent' },
  { path: '/serverCluster/versionInformation/{type}/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterVersionInformation', kind: 'hidden', parent: '/serverCluster/templateList', back: 'history' },
  { path: '/serverCluster/modifyTemplateVersions/{type}/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterModifyTemplateVersions', kind: 'hidden', parent: '/serverCluster/templateList', back: 'parent' },
  { path: '/serverCluster/modifyK3sTemplateVersions/{type}/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterModifyK3sTemplateVersions', kind: 'hidden', parent: '/serverCluster/templateList', back: 'parent' },
  { path: '/serverCluster/addTemplateVersions/{id}', group: 'serverCluster', access: tenants, title: 'serverClusterAddTemplateVersions', kind: 'hidden', parent: '/serverCluster/templateList', back: 'parent' },
  { path: '/appMarket/appList', group: 'serverCluster', access: tenants, title: 'appMarketAppList', kind: 'menu', section: 'helm', sort: 970 },
  { path: '/appMarket/appDetail', group: 'serverCluster', access: tenants, title: 'appMarketAppDetail', kind: 'hidden', parent: '/appMarket/appList', back: 'parent' },
  { path: '/appMarket/appInstalled', group: 'serverCluster', access: tenants, title: 'appMarketAppInstalled', kind: 'menu', section: 'helm', sort: 960 },
  { path: '/appMarket/appInstalledDetail', group: 'serverCluster', access: tenants, title: 'appMarketAppInstalledDetail', kind: 'hidden', parent: '/appMarket/appInstalled', back: 'parent' },
  { path: '/appMarket/repoList', group: 'serverCluster', access: tenants, title: 'appMarketRepoList', kind: 'menu', section: 'helm', sort: 950 },
  { path: '/appMarket/repoAdd', group: 'serverCluster', access: tenants, title: 'appMarketRepoAdd', kind: 'hidden', parent: '/appMarket/repoList', back: 'parent' },
  { path: '/appMarket/repoDetail/{name}', group: 'serverCluster', access: tenants, title: 'appMarketRepoDetail', kind: 'hidden', parent: '/appMarket/repoList', back: 'parent' },

  // mirror
  { path: '/mirror/service', group: 'mirror', access: admins, title: 'mirrorService', kind: 'menu', sort: 990 },
  { path: '/mirror/imagesDownloadList', group: 'mirror', access: admins, title: 'mirrorImagesDownloadList', kind: 'menu', sort: 980 },
  { path: '/mirror/userControl', group: 'mirror', access: admins, title: 'mirrorUserControl', kind: 'menu', sort: 970 },
  { path: '/mirror/project', group: 'mirror', access: tenants, title: 'mirrorProject', kind: 'menu', sort: 960 },
  { path: '/mirror/wareserve/warehouse/{registryId}/{projectId}', group: 'mirror', access: tenants, title: 'mirrorWareserveWarehouse', kind: 'hidden', parent: '/mirror/project', back: 'parent' },
  { path: '/mirror/wareserve/detail/{registryId}/{projectId}/{repoName}', group: 'mirror', access: tenants, title: 'mirrorWareserveDetail', kind: 'hidden', parent: '/mirror/project', back: 'parent' },
  { path: '/mirror/warehouse/detail', group: 'mirror', access: tenants, title: 'mirrorWarehouseDetail', kind: 'hidden', parent: '/mirror/project', back: 'history' },
  { path: '/mirror/thirdParty', group: 'mirror', access: admins, title: 'mirrorThirdParty', kind: 'menu', sort: 950 },
  { path: '/mirror/privoteParty', group: 'mirror', access: ['TENANT', 'TENANT_ADMIN'], title: 'mirrorPrivoteParty', kind: 'menu', sort: 940 },

  // middleware
  { path: '/middleware/MySQL', group: 'middleware', access: admins, title: 'middlewareMySQL', kind: 'menu', sort: 990 },
  { path: '/middleware/PostgreSQL', group: 'middleware', access: admins, title: 'middlewarePostgreSQL', kind: 'menu', sort: 980 },
  { path: '/middleware/redis', group: 'middleware', access: admins, title: 'middlewareRedis', kind: 'menu', sort: 970 },
  { path: '/middleware/service', group: 'middleware', access: admins, title: 'middlewareService', kind: 'menu', sort: 960 },
  { path: '/middleware/service/add', group: 'middleware', access: admins, title: 'middlewareServiceAdd', kind: 'hidden', parent: '/middleware/service', back: 'parent' },
  { path: '/middleware/service/detail/{id}/{type}/{deployment}', group: 'middleware', access: admins, title: 'middlewareServiceDetail', kind: 'hidden', parent: '/middleware/service', back: 'parent' },
  { path: '/middleware/service/gateway', group: 'middleware', access: admins, title: 'middlewareServiceGateway', kind: 'menu', sort: 950 },
  { path: '/middleware/service/gateway/detail/{id}', group: 'middleware', access: admins, title: 'middlewareServiceGatewayDetail', kind: 'hidden', parent: '/middleware/service/gateway', back: 'parent' },

  // fileTransfer
  { path: '/personalSpace', group: 'fileTransfer', access: tenants, title: 'personalSpace', kind: 'menu', sort: 990 },
  { path: '/publicSpace', group: 'fileTransfer', access: tenants, title: 'publicSpace', kind: 'menu', sort: 980 },
  { path: '/transferRecord', group: 'fileTransfer', access: admins, title: 'transferRecord', kind: 'menu', sort: 970 },

  // statistics
  { path: '/statistics', group: 'statistics', access: tenants, title: 'statistics', kind: 'menu', section: 'monitor', sort: 990 },
  { path: '/statistics/alarm', group: 'statistics', access: tenants, title: 'statisticsAlarm', kind: 'menu', section: 'monitor', sort: 980 },
  { path: '/alarmmanagement', group: 'statistics', access: tenants, title: 'alarmmanagement', kind: 'menu', section: 'monitor', sort: 970 },
  { path: '/alarmdetails/{id}', group: 'statistics', access: tenants, title: 'alarmdetails', kind: 'hidden', parent: '/alarmmanagement', back: 'parent' },
  { path: '/addalarm/{id?}', group: 'statistics', access: tenants, title: 'addalarm', kind: 'hidden', parent: '/alarmmanagement', back: 'parent' },
  { path: '/statistics/log', group: 'statistics', access: tenants, title: 'statisticsLog', kind: 'menu', section: 'monitor', sort: 960 },
  { path: '/statistics/event', group: 'statistics', access: admins, title: 'statisticsEvent', kind: 'menu', section: 'monitor', sort: 950 },
  { path: '/component/center', group: 'statistics', access: admins, title: 'componentCenter', kind: 'menu', section: 'component', sort: 940 },
  { path: '/component/installation', group: 'statistics', access: admins, title: 'componentInstallation', kind: 'menu', section: 'component', sort: 930 },
  { path: '/component/installation/{id}', group: 'statistics', access: admins, title: 'componentInstallationDetail', kind: 'hidden', parent: '/component/installation', back: 'parent' },
  { path: '/component/installationadd/{id}', group: 'statistics', access: admins, title: 'componentInstallationadd', kind: 'hidden', parent: '/component/installation', back: 'parent' },
  { path: '/component/installationaddTemplate/{id}/{name}', group: 'statistics', access: admins, title: 'componentInstallationaddTemplate', kind: 'hidden', parent: '/component/installation', back: 'parent' },
  { path: '/component/prometheus', group: 'statistics', access: admins, title: 'componentPrometheus', kind: 'menu', section: 'component', sort: 920 },
  { path: '/component/prometheus/{id}', group: 'statistics', access: admins, title: 'componentPrometheusDetail', kind: 'hidden', parent: '/component/prometheus', back: 'parent' },

  // indent
  { path: '/category', group: 'indent', access: admins, title: 'category', kind: 'menu', section: 'billing', sort: 990, page: () => import('./features/bill/catalogue/CategoryList.tsx'), messages: ['catalogue'] },
  { path: '/product', group: 'indent', access: admins, title: 'product', kind: 'menu', section: 'billing', sort: 980, page: () => import('./features/bill/catalogue/ProductList.tsx'), messages: ['catalogue'] },
  { path: '/productdesc/{id}', group: 'indent', access: admins, title: 'productdesc', kind: 'hidden', parent: '/product', back: 'parent', page: () => import('./features/bill/catalogue/ProductDetail.tsx'), messages: ['catalogue'] },
  { path: '/discount', group: 'indent', access: admins, title: 'discount', kind: 'menu', section: 'billing', sort: 970, page: () => import('./features/bill/catalogue/DiscountList.tsx'), messages: ['catalogue'] },
  { path: '/account', group: 'indent', access: admins, title: 'account', kind: 'menu', section: 'billing', sort: 960, page: () => import('./features/bill/fund/AccountPage.tsx'), messages: ['fund'] },
  { path: '/monthOverview', group: 'indent', access: tenants, title: 'monthOverview', kind: 'menu', section: 'bills', sort: 950, page: () => import('./features/bill/report/MonthOverview.tsx'), messages: ['report', 'arrears'] },
  { path: '/consumerdesc/{id}/{date}', group: 'indent', access: tenants, title: 'consumerdesc', kind: 'hidden', parent: '/monthOverview', back: 'parent', page: () => import('./features/bill/report/ResourceMonth.tsx'), messages: ['report'] },
  { path: '/consumerDetails', group: 'indent', access: tenants, title: 'consumerDetails', kind: 'menu', section: 'bills', sort: 940, page: () => import('./features/bill/report/Consumption.tsx'), messages: ['report'] },
  { path: '/order', group: 'indent', access: tenants, title: 'order', kind: 'menu', section: 'bills', sort: 930, page: () => import('./features/bill/order/OrderList.tsx'), messages: ['order', 'report'] },
  { path: '/orderdesc/{id}', group: 'indent', access: tenants, title: 'orderdesc', kind: 'hidden', parent: '/order', back: 'parent', page: () => import('./features/bill/order/OrderDetail.tsx'), messages: ['order', 'report'] },
  { path: '/wallet', group: 'indent', access: tenants, title: 'wallet', kind: 'menu', section: 'funds', sort: 920, page: () => import('./features/bill/fund/WalletPage.tsx'), messages: ['fund'] },
  { path: '/charge-records', group: 'indent', access: tenants, title: 'chargeRecords', kind: 'menu', section: 'funds', sort: 910, page: () => import('./features/bill/fund/ChargeRecords.tsx'), messages: ['fund'] },
  { path: '/fund', group: 'indent', access: tenants, title: 'fund', kind: 'menu', section: 'funds', sort: 900, page: () => import('./features/bill/fund/FundPage.tsx'), messages: ['fund'] },

  // iam
  { path: '/iam/partners', group: 'iam', access: admins, title: 'iamPartners', kind: 'menu', sort: 990, page: () => import('./features/keeping/OrganisationList.tsx'), messages: ['keeping', 'iam', 'account', 'nextstackCompute'] },
  { path: '/iam/user', group: 'iam', access: admins, title: 'iamUser', kind: 'menu', sort: 980, page: () => import('./features/keeping/UserList.tsx'), messages: ['keeping', 'iam', 'account'] },
  { path: '/iam/user/addForm', group: 'iam', access: admins, title: 'iamUserAddForm', kind: 'hidden', parent: '/iam/user', back: 'parent', page: () => import('./features/keeping/UserAdd.tsx'), messages: ['keeping', 'iam', 'account'] },
  { path: '/iam/user/detail/{id}', group: 'iam', access: admins, title: 'iamUserDetail', kind: 'hidden', parent: '/iam/user', back: 'parent', page: () => import('./features/keeping/UserDetail.tsx'), messages: ['keeping', 'iam', 'account'] },
  { path: '/iam/project', group: 'iam', access: admins, title: 'iamProject', kind: 'menu', sort: 970, page: () => import('./features/keeping/ProjectList.tsx'), messages: ['keeping', 'iam', 'account'] },
  { path: '/iam/project/addForm', group: 'iam', access: admins, title: 'iamProjectAddForm', kind: 'hidden', parent: '/iam/project', back: 'parent', page: () => import('./features/keeping/ProjectAdd.tsx'), messages: ['keeping', 'iam', 'account'] },
  { path: '/iam/project/{id}', group: 'iam', access: admins, title: 'iamProjectDetail', kind: 'hidden', parent: '/iam/project', back: 'parent', page: () => import('./features/keeping/ProjectDetail.tsx'), messages: ['keeping', 'iam', 'account', 'nextstackCompute'] },
  { path: '/iam/role', group: 'iam', access: admins, title: 'iamRole', kind: 'menu', sort: 960, page: () => import('./features/iam/RoleList.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/role/addForm', group: 'iam', access: admins, title: 'iamRoleAddForm', kind: 'hidden', parent: '/iam/role', back: 'parent', page: () => import('./features/iam/RoleAdd.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/role/detail/{id}', group: 'iam', access: admins, title: 'iamRoleDetail', kind: 'hidden', parent: '/iam/role', back: 'parent', page: () => import('./features/iam/RoleDetail.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/policie', group: 'iam', access: admins, title: 'iamPolicie', kind: 'menu', sort: 950, page: () => import('./features/iam/PolicyList.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/policie/addForm', group: 'iam', access: admins, title: 'iamPolicieAddForm', kind: 'hidden', parent: '/iam/policie', back: 'parent', page: () => import('./features/iam/PolicyAdd.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/policie/contact/{id}', group: 'iam', access: admins, title: 'iamPolicieContact', kind: 'hidden', parent: '/iam/policie', back: 'parent', page: () => import('./features/iam/PolicyContacts.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/policie/version{id}', group: 'iam', access: admins, title: 'iamPolicieVersion', kind: 'hidden', parent: '/iam/policie', back: 'parent', page: () => import('./features/iam/PolicyVersions.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/policie/versionDetail/{policyId}/{versionId}', group: 'iam', access: admins, title: 'iamPolicieVersionDetail', kind: 'hidden', parent: '/iam/policie', back: 'history', page: () => import('./features/iam/PolicyVersionDetail.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/authorize', group: 'iam', access: admins, title: 'iamAuthorize', kind: 'menu', sort: 940, page: () => import('./features/iam/Authorize.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/serve', group: 'iam', access: admins, title: 'iamServe', kind: 'menu', sort: 930, page: () => import('./features/iam/ServiceList.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/serve/addForm', group: 'iam', access: admins, title: 'iamServeAddForm', kind: 'hidden', parent: '/iam/serve', back: 'parent', page: () => import('./features/iam/ServiceAdd.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/serve/{id}', group: 'iam', access: admins, title: 'iamServeDetail', kind: 'hidden', parent: '/iam/serve', back: 'parent', page: () => import('./features/iam/ServiceDetail.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/resource', group: 'iam', access: admins, title: 'iamResource', kind: 'menu', sort: 920, page: () => import('./features/iam/ResourceTypeList.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/resource/addForm', group: 'iam', access: admins, title: 'iamResourceAddForm', kind: 'hidden', parent: '/iam/resource', back: 'parent', page: () => import('./features/iam/ResourceTypeAdd.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/resource/{id}', group: 'iam', access: admins, title: 'iamResourceDetail', kind: 'hidden', parent: '/iam/resource', back: 'parent', page: () => import('./features/iam/ResourceTypeDetail.tsx'), messages: ['iam', 'account'] },
  { path: '/iam/audit', group: 'iam', access: admins, title: 'iamAudit', kind: 'menu', sort: 910, page: () => import('./features/keeping/AuditLog.tsx'), messages: ['keeping', 'iam', 'account'] },

  // platform
  { path: '/area', group: 'platform', access: admins, title: 'area', kind: 'menu', sort: 990, page: () => import('./features/edge/RegionList.tsx'), messages: ['edge'] },
  { path: '/website', group: 'platform', access: admins, title: 'website', kind: 'menu', sort: 980, page: () => import('./features/edge/SiteList.tsx'), messages: ['edge'] },
  { path: '/infrastructure/cloudy', group: 'platform', access: admins, title: 'infrastructureCloudy', kind: 'menu', sort: 970, page: () => import('./features/clouds/CloudList.tsx'), messages: ['clouds', 'compute', 'computeTenancy'] },
  { path: '/websiteDetail/{id}/{name}/{regionid}', group: 'platform', access: admins, title: 'websiteDetail', kind: 'hidden', parent: '/website', back: 'parent', page: () => import('./features/edge/SiteDetail.tsx'), messages: ['edge'] },
  { path: '/gateway', group: 'platform', access: admins, title: 'gateway', kind: 'menu', sort: 960, page: () => import('./features/edge/GatewayList.tsx'), messages: ['edge'] },
  { path: '/configure', group: 'platform', access: admins, title: 'configure', kind: 'menu', sort: 950, page: () => import('./features/settings/SettingList.tsx'), messages: ['settings', 'arrears'] },
  { path: '/configureDetail', group: 'platform', access: admins, title: 'configureDetail', kind: 'hidden', parent: '/configure', back: 'parent', page: () => import('./features/settings/SettingDetail.tsx'), messages: ['settings'] },

  // separateAccounting
  { path: '/separateAccountingSystem/provider', group: 'separateAccounting', access: supporters, title: 'separateAccountingSystemProvider', kind: 'menu', section: 'split', sort: 990 },
  { path: '/separateAccountingSystem/provider/{id}', group: 'separateAccounting', access: supporters, title: 'separateAccountingSystemProviderDetail', kind: 'hidden', parent: '/separateAccountingSystem/provider', back: 'parent' },
  { path: '/separateAccountingSystem/management', group: 'separateAccounting', access: supporters, title: 'separateAccountingSystemManagement', kind: 'menu', section: 'split', sort: 980 },
  { path: '/separateAccountingSystem/management/{id}', group: 'separateAccounting', access: supporters, title: 'separateAccountingSystemManagementDetail', kind: 'hidden', parent: '/separateAccountingSystem/management', back: 'parent' },
  { path: '/separateAccountingSystem/record', group: 'separateAccounting', access: supporters, title: 'separateAccountingSystemRecord', kind: 'menu', section: 'split', sort: 970 },
  { path: '/separateAccountingSystem/providers_record', group: 'separateAccounting', access: providers, title: 'separateAccountingSystemProvidersRecord', kind: 'menu', section: 'provider', sort: 960 },
  { path: '/separateAccountingSystem/resources', group: 'separateAccounting', access: providers, title: 'separateAccountingSystemResources', kind: 'menu', section: 'provider', sort: 950 },
  { path: '/separateAccountingSystem/operationaldata', group: 'separateAccounting', access: admins, title: 'separateAccountingSystemOperationaldata', kind: 'menu', section: 'data', sort: 940 },
  { path: '/separateAccountingSystem/operationaldata/{id}', group: 'separateAccounting', access: admins, title: 'separateAccountingSystemOperationaldataDetail', kind: 'hidden', parent: '/separateAccountingSystem/operationaldata', back: 'parent' },
  { path: '/separateAccountingSystem/resourcedata', group: 'separateAccounting', access: admins, title: 'separateAccountingSystemResourcedata', kind: 'menu', section: 'data', sort: 930 },
  { path: '/separateAccountingSystem/resourcedata/{id}/{gpuname}', group: 'separateAccounting', access: admins, title: 'separateAccountingSystemResourcedataDetail', kind: 'hidden', parent: '/separateAccountingSystem/resourcedata', back: 'parent' },

  // workOrder
  { path: '/workOrderlist', group: 'workOrder', access: ['COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'], title: 'workOrderlist', kind: 'page' },
  { path: '/workOrderCenter', group: 'workOrder', access: ['COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'], title: 'workOrderCenter', kind: 'page' },]

/**
 * `/vm/detail/{id}` as the router writes it: `/vm/detail/:id`. Its parameters are whole segments,
 * so that of `/iam/policie/version{id}` keeps the word in its value.
 */
export const routerPath = (path: string): string => path.replace(/[^/{]*\{(\w+)(\??)\}/g, ':$1$2')

/** Whether a page stands behind an address as the table spells it: nothing leads to one that is pending. */
export const isBuilt = (path: string): boolean => routes.some((route) => route.path === path && route.page !== undefined)
