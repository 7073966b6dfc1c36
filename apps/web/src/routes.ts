import { admins, tenants, type Access, type Role } from '@zhisuan/contract/roles'
import type { Offer } from '@zhisuan/contract/offer'
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
  | 'market'
  | 'serverCluster'
  | 'mirror'
  | 'middleware'
  | 'fileTransfer'
  | 'statistics'
  | 'indent'
  | 'iam'
  | 'organisation'
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

/** What a row of the table says of every page. */
interface Row {
  /** As the specification spells it; `{id}` is a parameter, `{id?}` an optional one. */
  readonly path: string
  /** Key of locales/zh/routes.ts. */
  readonly title: keyof typeof routeTitles
  /** The call that it is of no use without, by its id: whom policies refuse that, nothing leads there, and its address says so. */
  readonly asks?: string
  /** Not built yet: nothing leads there. Every other row has its page in pages.ts. */
  readonly pending?: true
  /** Drawn without antd, so that visitors do not wait for it. */
  readonly plain?: true
}

/** An entry of the menu, or a page that stands in none. */
interface Entry extends Row {
  readonly access: Access
  readonly kind?: 'page'
  readonly section?: RouteSection
  /** Menus are sorted by it, descending. */
  readonly sort?: number
  /** Of no use before this is there: until then it is in no menu but administrators’, see layout/menu.ts. */
  readonly needs?: Offer
}

/** A detail or add page reached from its parent, whose menu entry it highlights. */
interface Under extends Row {
  /** The parent's where it is left out. */
  readonly access?: Access
  /** Where the back button leads: to the parent where it is left out. */
  readonly back?: 'history'
}

/** The rows of one group. */
type Group = readonly (Entry & { readonly under?: readonly Under[] })[]

/** One row of the table, with what follows from its place there. */
export interface Route extends Row {
  readonly group: RouteGroup
  readonly access: Access
  /** `menu`: in sidebar and drawer. `hidden`: a detail or add page reached from its parent. `page`: neither. */
  readonly kind: 'menu' | 'hidden' | 'page'
  /** The menu entry to highlight. */
  readonly parent?: string
  /** Where the back button leads; pages without have none. */
  readonly back?: 'parent' | 'history'
  readonly section?: RouteSection
  readonly sort?: number
  readonly needs?: Offer
}

/** Who keeps an organisation of their own; the platform's administrators have the pages of `iam`. */
const keepsOwn = ['TENANT_ADMIN'] as const satisfies readonly Role[]
const supporters = ['OPERATION_SUPPORTER', 'ADMIN'] as const satisfies readonly Role[]
const providers = ['OPERATION_SUPPORTER', 'PROVIDER', 'ADMIN'] as const satisfies readonly Role[]

/** Sort numbers of the groups in the drawer, descending like everything in a menu. */
export const groupSort: Readonly<Record<RouteGroup, number>> = {
  index: 1000,
  nextStack: 990,
  compute: 980,
  containerApplication: 970,
  market: 965,
  serverCluster: 960,
  mirror: 950,
  middleware: 940,
  fileTransfer: 930,
  statistics: 920,
  indent: 910,
  iam: 900,
  organisation: 895,
  platform: 890,
  separateAccounting: 880,
  license: 870,
  workOrder: 860,
  general: 0,
  public: 0,
}

/** What all pages of a group need. */
export const groupNeeds: Readonly<Partial<Record<RouteGroup, Offer>>> = { nextStack: 'nextStack', compute: 'compute' }

/** An entry with the pages under it. */
const parent = <const E extends Entry, const U extends readonly Under[]>(entry: E, under: U): E & { readonly under: U } => ({ ...entry, under })

const table = {
  public: [
    { path: '/', title: 'welcome', access: 'public', kind: 'page', plain: true },
    { path: '/login', title: 'login', access: 'public', kind: 'page', plain: true },
    { path: '/register', title: 'register', access: 'public', kind: 'page' },
    { path: '/messageBoard', title: 'messageBoard', access: 'public', kind: 'page' },
    { path: '/Terms-of-Service', title: 'termsOfService', access: 'public', kind: 'page' },
    { path: '/market', title: 'market', access: 'public', kind: 'page' },
    parent({ path: '/warehouse', title: 'warehouse', access: 'public', kind: 'page' }, [{ path: '/warehouse/{id}', title: 'warehouseDetail' }]),
    { path: '/share/{token}', title: 'share', access: 'public', kind: 'page' },
    { path: '/404', title: 'notFound', access: 'public', kind: 'page', plain: true },
    { path: '/403', title: 'forbidden', access: 'public', kind: 'page', plain: true },
  ],
  index: [{ path: '/index', title: 'index', asks: 'nextstack.overview.get', access: ['TENANT_ADMIN', 'ADMIN'], sort: 990 }],
  license: [{ path: '/license', title: 'license', asks: 'sys.licence.get', access: admins, sort: 990 }],
  general: [
    { path: '/userMsg', title: 'userMsg', access: 'all', kind: 'page' },
    { path: '/messages', title: 'messages', access: tenants, sort: 990 },
    { path: '/tasks', title: 'tasks', access: 'all', kind: 'page' },
    parent({ path: '/help', title: 'help', access: 'all', kind: 'page' }, [{ path: '/help/helpCenter/{id}', title: 'helpHelpCenter' }]),
  ],
  nextStack: [
    parent({ path: '/nextStack/vm', title: 'nextStackVm', asks: 'nextstack.vm.list', access: tenants, section: 'compute', sort: 990 }, [
      { path: '/nextStack/vm/add', title: 'nextStackVmAdd', asks: 'nextstack.vm.create' },
      { path: '/nextStack/vm/detail/{id}', title: 'nextStackVmDetail' },
      { path: '/nextStack/vmCommand', title: 'nextStackVmCommand', asks: 'nextstack.command.create', back: 'history' },
    ]),
    parent({ path: '/nextStack/flavors', title: 'nextStackFlavors', asks: 'nextstack.flavor.list', access: admins, section: 'compute', sort: 980 }, [
      { path: '/nextStack/flavor/detail/{id}', title: 'nextStackFlavorDetail' },
    ]),
    parent({ path: '/nextStack/snaps', title: 'nextStackSnaps', asks: 'nextstack.snapshot.list', access: tenants, section: 'compute', sort: 970 }, [
      { path: '/nextStack/snap/detail/{id}', title: 'nextStackSnapDetail' },
    ]),
    parent({ path: '/nextStack/publicKey', title: 'nextStackPublicKey', asks: 'nextstack.keyPair.list', access: tenants, section: 'compute', sort: 960 }, [
      { path: '/nextStack/publicKey/detail/{id}', title: 'nextStackPublicKeyDetail' },
    ]),
    parent({ path: '/nextStack/vpc', title: 'nextStackVpc', asks: 'nextstack.vpc.list', access: tenants, section: 'network', sort: 950 }, [
      { path: '/nextStack/vpc/detail/{id}', title: 'nextStackVpcDetail' },
    ]),
    parent(
      { path: '/nextStack/secGroups', title: 'nextStackSecGroups', asks: 'nextstack.securityGroup.list', access: tenants, section: 'network', sort: 940 },
      [{ path: '/nextStack/secGroups/detail/{id}', title: 'nextStackSecGroupsDetail' }],
    ),
    parent({ path: '/nextStack/Nat', title: 'nextStackNat', asks: 'nextstack.nat.list', access: tenants, section: 'network', sort: 930 }, [
      { path: '/nextStack/Nat/detail/{id}', title: 'nextStackNatDetail' },
    ]),
    parent({ path: '/nextStack/eip', title: 'nextStackEip', asks: 'nextstack.eip.list', access: tenants, section: 'network', sort: 920 }, [
      { path: '/nextStack/eip/add', title: 'nextStackEipAdd', asks: 'nextstack.eip.allocate' },
    ]),
    parent({ path: '/nextStack/eipPool', title: 'nextStackEipPool', asks: 'nextstack.eipPool.list', access: admins, section: 'network', sort: 910 }, [
      { path: '/nextStack/eipPool/detail/{id}', title: 'nextStackEipPoolDetail' },
    ]),
    parent({ path: '/nextStack/volumes', title: 'nextStackVolumes', asks: 'nextstack.volume.list', access: tenants, section: 'storage', sort: 900 }, [
      { path: '/nextStack/volumes/add', title: 'nextStackVolumesAdd', asks: 'nextstack.volume.create' },
      { path: '/nextStack/volumes/detail/{id}', title: 'nextStackVolumesDetail' },
      { path: '/nextStack/volumes/restore/{id}', title: 'nextStackVolumesRestore', asks: 'nextstack.volume.restore' },
    ]),
    parent(
      { path: '/nextStack/volumesSnap', title: 'nextStackVolumesSnap', asks: 'nextstack.volumeSnapshot.list', access: tenants, section: 'storage', sort: 890 },
      [{ path: '/nextStack/volumesSnap/detail/{id}', title: 'nextStackVolumesSnapDetail' }],
    ),
    parent(
      { path: '/nextStack/hypervisorNodes', title: 'nextStackHypervisorNodes', asks: 'nextstack.host.list', access: admins, section: 'hardware', sort: 880 },
      [{ path: '/nextStack/hypervisorNodes/detail/{id}', title: 'nextStackHypervisorNodesDetail' }],
    ),
    parent(
      { path: '/nextStack/storagePool', title: 'nextStackStoragePool', asks: 'nextstack.storagePool.list', access: admins, section: 'hardware', sort: 870 },
      [{ path: '/nextStack/storagePool/detail/{id}', title: 'nextStackStoragePoolDetail' }],
    ),
    parent({ path: '/nextStack/publicImage', title: 'nextStackPublicImage', asks: 'nextstack.image.list', access: admins, section: 'image', sort: 860 }, [
      { path: '/nextStack/publicImage/detail/{id}', title: 'nextStackPublicImageDetail' },
    ]),
    parent({ path: '/nextStack/privateImage', title: 'nextStackPrivateImage', asks: 'nextstack.image.list', access: tenants, section: 'image', sort: 850 }, [
      { path: '/nextStack/privateImage/detail/{id}', title: 'nextStackPrivateImageDetail' },
    ]),
  ],
  compute: [
    parent({ path: '/instance', title: 'instance', asks: 'compute.instance.list', access: tenants, section: 'compute', sort: 990 }, [
      { path: '/instanceadd', title: 'instanceadd', asks: 'compute.instance.create' },
      { path: '/instancedesc/{id}', title: 'instancedesc' },
    ]),
    { path: '/instance-recovery', title: 'instanceRecovery', asks: 'compute.recycled.list', access: tenants, section: 'compute', sort: 980 },
    parent({ path: '/instance-snapshot', title: 'instanceSnapshot', asks: 'compute.image.list', access: tenants, section: 'compute', sort: 970 }, [
      { path: '/instance-snapshotdesc/{id}', title: 'instanceSnapshotdesc' },
    ]),
    parent({ path: '/flavor', title: 'flavor', asks: 'compute.flavor.list', access: tenants, section: 'compute', sort: 960 }, [
      { path: '/flavordesc/{id}', title: 'flavordesc' },
    ]),
    parent({ path: '/image', title: 'image', asks: 'compute.image.list', access: tenants, section: 'compute', sort: 950 }, [
      { path: '/imagedesc/{id}', title: 'imagedesc' },
      { path: '/imageadd', title: 'imageadd', asks: 'compute.image.create' },
    ]),
    parent({ path: '/keypair', title: 'keypair', asks: 'nextstack.keyPair.list', access: tenants, section: 'compute', sort: 940 }, [
      { path: '/keypairdesc/{id}', title: 'keypairdesc' },
    ]),
    parent({ path: '/networks', title: 'networks', asks: 'compute.network.list', access: tenants, section: 'network', sort: 930 }, [
      { path: '/networksdesc/{id}', title: 'networksdesc' },
      { path: '/subnetdesc/{id}/{network_id}', title: 'subnetdesc', back: 'history' },
    ]),
    parent({ path: '/port', title: 'port', asks: 'compute.port.list', access: tenants, section: 'network', sort: 920 }, [
      { path: '/portdesc/{id}', title: 'portdesc' },
    ]),
    parent({ path: '/router', title: 'router', asks: 'compute.router.list', access: tenants, section: 'network', sort: 910 }, [
      { path: '/routerdesc/{id}', title: 'routerdesc' },
    ]),
    parent({ path: '/floatingip', title: 'floatingip', asks: 'compute.floatingIp.list', access: tenants, section: 'network', sort: 900 }, [
      { path: '/floatingipdesc/{id}', title: 'floatingipdesc' },
    ]),
    parent({ path: '/security-group', title: 'securityGroup', asks: 'compute.securityGroup.list', access: tenants, section: 'network', sort: 890 }, [
      { path: '/security-groupdesc/{id}', title: 'securityGroupdesc' },
    ]),
    { path: '/firewall', title: 'firewall', asks: 'compute.firewallGroup.list', access: tenants, section: 'network', sort: 880 },
    { path: '/firewall-strategy', title: 'firewallStrategy', asks: 'compute.firewallPolicy.list', access: tenants, section: 'network', sort: 870 },
    { path: '/firewall-rule', title: 'firewallRule', asks: 'compute.firewallRule.list', access: tenants, section: 'network', sort: 860 },
    parent({ path: '/volume', title: 'volume', asks: 'compute.volume.list', access: tenants, section: 'storage', sort: 850 }, [
      { path: '/volumedesc/{id}', title: 'volumedesc' },
      { path: '/volumeadd', title: 'volumeadd', asks: 'compute.volume.create' },
    ]),
    parent({ path: '/backup', title: 'backup', asks: 'compute.volumeBackup.list', access: tenants, section: 'storage', sort: 840 }, [
      { path: '/backupdesc/{id}', title: 'backupdesc' },
    ]),
    parent({ path: '/snapshot', title: 'snapshot', asks: 'compute.volumeSnapshot.list', access: tenants, section: 'storage', sort: 830 }, [
      { path: '/snapshotdesc/{id}', title: 'snapshotdesc' },
    ]),
  ],
  containerApplication: [
    parent({ path: '/infrastructure/node', title: 'infrastructureNode', asks: 'ecrm.edge.list', access: tenants, sort: 990 }, [
      { path: '/infrastructure/nodeList/{id}', title: 'infrastructureNodeList' },
      { path: '/mirror/imageFromNode/{id}/{name}', title: 'mirrorImageFromNode', back: 'history' },
      { path: '/infrastructure/addNodes', title: 'infrastructureAddNodes', asks: 'ecrm.edge.create' },
    ]),
    parent(
      {
        path: '/containerApplicationService/containerDeploy',
        title: 'containerApplicationServiceContainerDeploy',
        asks: 'cis.deployment.list',
        access: tenants,
        sort: 980,
        needs: 'node',
      },
      [
        { path: '/containerApplicationService/addcontainer', title: 'containerApplicationServiceAddcontainer', asks: 'cis.container.deploy' },
        { path: '/containerApplicationService/deployContainer/{id}/{name}', title: 'containerApplicationServiceDeployContainer' },
        { path: '/containerApplicationService/deployContainDetail/{id}', title: 'containerApplicationServiceDeployContainDetail', back: 'history' },
        { path: '/command/{id}/{name}', title: 'command', back: 'history' },
      ],
    ),
    parent(
      {
        path: '/containerApplicationService/applicationDeploy',
        title: 'containerApplicationServiceApplicationDeploy',
        asks: 'aos.deployment.list',
        access: tenants,
        sort: 970,
        needs: 'node',
      },
      [
        { path: '/containerApplicationService/deploySystemContainer/{id}/{name}', title: 'containerApplicationServiceDeploySystemContainer' },
        { path: '/containerApplicationService/serviceFromApp/{id}/{name}', title: 'containerApplicationServiceServiceFromApp', back: 'history' },
        { path: '/containerApplicationService/containerFromService/{id}/{name}', title: 'containerApplicationServiceContainerFromService', back: 'history' },
        { path: '/containerApplicationService/serviceContainDetail/{id}', title: 'containerApplicationServiceServiceContainDetail', back: 'history' },
      ],
    ),
    parent(
      {
        path: '/containerApplicationService/appTemplate',
        title: 'containerApplicationServiceAppTemplate',
        asks: 'aos.template.list',
        access: tenants,
        sort: 960,
      },
      [{ path: '/containerApplicationService/version', title: 'containerApplicationServiceVersion' }],
    ),
    parent(
      {
        path: '/containerApplicationService/appConfigure',
        title: 'containerApplicationServiceAppConfigure',
        asks: 'cis.config.list',
        access: tenants,
        sort: 950,
      },
      [{ path: '/containerApplicationService/configureInformation', title: 'containerApplicationServiceConfigureInformation' }],
    ),
  ],
  market: [
    parent({ path: '/market/rentals', title: 'marketRentals', asks: 'market.rental.list', access: tenants, sort: 990 }, [
      { path: '/market/rentals/add', title: 'marketRentalAdd', asks: 'market.rental.create' },
      { path: '/market/rentals/{id}', title: 'marketRentalDetail' },
    ]),
    { path: '/market/provider', title: 'marketProvider', asks: 'market.provider.list', access: tenants, sort: 980 },
    { path: '/market/administration', title: 'marketAdministration', asks: 'market.offer.list', access: admins, sort: 970 },
  ],
  serverCluster: [
    parent({ path: '/serverCluster/list', title: 'serverClusterList', access: tenants, section: 'cluster', sort: 990, pending: true }, [
      { path: '/serverCluster/add', title: 'serverClusterAdd', pending: true },
      { path: '/serverCluster/k3sAdd', title: 'serverClusterK3sAdd', pending: true },
      { path: '/serverCluster/import', title: 'serverClusterImport', pending: true },
      { path: '/serverCluster/clusterType', title: 'serverClusterClusterType', pending: true },
      { path: '/serverCluster/edit/{id}', title: 'serverClusterEdit', pending: true },
      { path: '/serverCluster/detail/{id}/{name}', title: 'serverClusterDetail', pending: true },
    ]),
    parent({ path: '/serverCluster/templateList', title: 'serverClusterTemplateList', access: tenants, section: 'cluster', sort: 980, pending: true }, [
      { path: '/serverCluster/templateAdd/{type}/{id}', title: 'serverClusterTemplateAdd', pending: true },
      { path: '/serverCluster/templateInformation/{id}', title: 'serverClusterTemplateInformation', pending: true },
      { path: '/serverCluster/versionInformation/{type}/{id}', title: 'serverClusterVersionInformation', back: 'history', pending: true },
      { path: '/serverCluster/modifyTemplateVersions/{type}/{id}', title: 'serverClusterModifyTemplateVersions', pending: true },
      { path: '/serverCluster/modifyK3sTemplateVersions/{type}/{id}', title: 'serverClusterModifyK3sTemplateVersions', pending: true },
      { path: '/serverCluster/addTemplateVersions/{id}', title: 'serverClusterAddTemplateVersions', pending: true },
    ]),
    parent({ path: '/appMarket/appList', title: 'appMarketAppList', access: tenants, section: 'helm', sort: 970, pending: true }, [
      { path: '/appMarket/appDetail', title: 'appMarketAppDetail', pending: true },
    ]),
    parent({ path: '/appMarket/appInstalled', title: 'appMarketAppInstalled', access: tenants, section: 'helm', sort: 960, pending: true }, [
      { path: '/appMarket/appInstalledDetail', title: 'appMarketAppInstalledDetail', pending: true },
    ]),
    parent({ path: '/appMarket/repoList', title: 'appMarketRepoList', access: tenants, section: 'helm', sort: 950, pending: true }, [
      { path: '/appMarket/repoAdd', title: 'appMarketRepoAdd', pending: true },
      { path: '/appMarket/repoDetail/{name}', title: 'appMarketRepoDetail', pending: true },
    ]),
  ],
  mirror: [
    { path: '/mirror/service', title: 'mirrorService', asks: 'ims.registry.list', access: admins, sort: 990 },
    { path: '/mirror/imagesDownloadList', title: 'mirrorImagesDownloadList', asks: 'ims.preheat.list', access: admins, sort: 980 },
    { path: '/mirror/userControl', title: 'mirrorUserControl', asks: 'ims.registryUser.list', access: admins, sort: 970 },
    parent({ path: '/mirror/project', title: 'mirrorProject', asks: 'ims.project.list', access: tenants, sort: 960 }, [
      { path: '/mirror/wareserve/warehouse/{registryId}/{projectId}', title: 'mirrorWareserveWarehouse' },
      { path: '/mirror/wareserve/detail/{registryId}/{projectId}/{repoName}', title: 'mirrorWareserveDetail' },
      { path: '/mirror/warehouse/detail', title: 'mirrorWarehouseDetail', back: 'history' },
    ]),
    { path: '/mirror/thirdParty', title: 'mirrorThirdParty', asks: 'ims.thirdRegistry.list', access: admins, sort: 950 },
    { path: '/mirror/privoteParty', title: 'mirrorPrivoteParty', asks: 'ims.thirdRegistry.list', access: ['TENANT', 'TENANT_ADMIN'], sort: 940 },
  ],
  middleware: [
    { path: '/middleware/MySQL', title: 'middlewareMySQL', asks: 'middleware.service.list', access: admins, sort: 990 },
    { path: '/middleware/PostgreSQL', title: 'middlewarePostgreSQL', asks: 'middleware.service.list', access: admins, sort: 980 },
    { path: '/middleware/redis', title: 'middlewareRedis', asks: 'middleware.service.list', access: admins, sort: 970 },
    parent({ path: '/middleware/service', title: 'middlewareService', asks: 'middleware.service.list', access: admins, sort: 960 }, [
      { path: '/middleware/service/add', title: 'middlewareServiceAdd' },
      { path: '/middleware/service/detail/{id}/{type}/{deployment}', title: 'middlewareServiceDetail' },
    ]),
    parent({ path: '/middleware/service/gateway', title: 'middlewareServiceGateway', asks: 'middleware.gateway.list', access: admins, sort: 950 }, [
      { path: '/middleware/service/gateway/detail/{id}', title: 'middlewareServiceGatewayDetail' },
    ]),
  ],
  fileTransfer: [
    { path: '/personalSpace', title: 'personalSpace', asks: 'files.space.list', access: tenants, sort: 990 },
    { path: '/publicSpace', title: 'publicSpace', asks: 'files.space.list', access: tenants, sort: 980 },
    { path: '/transferRecord', title: 'transferRecord', asks: 'files.transfer.list', access: admins, sort: 970 },
  ],
  statistics: [
    { path: '/statistics', title: 'statistics', asks: 'omc.stat.counts', access: tenants, section: 'monitor', sort: 990 },
    { path: '/statistics/alarm', title: 'statisticsAlarm', asks: 'omc.alertLog.list', access: tenants, section: 'monitor', sort: 980 },
    parent({ path: '/alarmmanagement', title: 'alarmmanagement', asks: 'omc.alarm.list', access: tenants, section: 'monitor', sort: 970 }, [
      { path: '/alarmdetails/{id}', title: 'alarmdetails' },
      { path: '/addalarm/{id?}', title: 'addalarm', asks: 'omc.alarm.create' },
    ]),
    { path: '/statistics/log', title: 'statisticsLog', asks: 'omc.apiLog.list', access: tenants, section: 'monitor', sort: 960 },
    { path: '/statistics/event', title: 'statisticsEvent', asks: 'omc.apiEvent.list', access: admins, section: 'monitor', sort: 950 },
    { path: '/component/center', title: 'componentCenter', asks: 'omc.integration.list', access: admins, section: 'component', sort: 940 },
    parent({ path: '/component/installation', title: 'componentInstallation', asks: 'omc.integration.list', access: admins, section: 'component', sort: 930 }, [
      { path: '/component/installation/{id}', title: 'componentInstallationDetail' },
      { path: '/component/installationadd/{id}', title: 'componentInstallationadd', asks: 'omc.integration.create' },
      { path: '/component/installationaddTemplate/{id}/{name}', title: 'componentInstallationaddTemplate', asks: 'omc.integration.create' },
    ]),
    parent({ path: '/component/prometheus', title: 'componentPrometheus', asks: 'omc.integration.list', access: admins, section: 'component', sort: 920 }, [
      { path: '/component/prometheus/{id}', title: 'componentPrometheusDetail' },
    ]),
  ],
  indent: [
    { path: '/category', title: 'category', asks: 'bill.category.list', access: admins, section: 'billing', sort: 990 },
    parent({ path: '/product', title: 'product', asks: 'bill.product.list', access: admins, section: 'billing', sort: 980 }, [
      { path: '/productdesc/{id}', title: 'productdesc' },
    ]),
    { path: '/discount', title: 'discount', asks: 'bill.discount.list', access: admins, section: 'billing', sort: 970 },
    { path: '/account', title: 'account', asks: 'bill.account.list', access: admins, section: 'billing', sort: 960 },
    parent({ path: '/monthOverview', title: 'monthOverview', asks: 'bill.consume.monthly', access: tenants, section: 'bills', sort: 950 }, [
      { path: '/consumerdesc/{id}/{date}', title: 'consumerdesc' },
    ]),
    { path: '/consumerDetails', title: 'consumerDetails', asks: 'bill.consume.summary', access: tenants, section: 'bills', sort: 940 },
    parent({ path: '/order', title: 'order', asks: 'bill.order.list', access: tenants, section: 'bills', sort: 930 }, [
      { path: '/orderdesc/{id}', title: 'orderdesc' },
    ]),
    { path: '/wallet', title: 'wallet', asks: 'bill.account.wallet', access: tenants, section: 'funds', sort: 920 },
    { path: '/charge-records', title: 'chargeRecords', asks: 'bill.topup.list', access: tenants, section: 'funds', sort: 910 },
    { path: '/fund', title: 'fund', asks: 'bill.account.entries', access: tenants, section: 'funds', sort: 900 },
  ],
  iam: [
    { path: '/iam/partners', title: 'iamPartners', asks: 'ums.organisation.list', access: admins, sort: 990 },
    parent({ path: '/iam/user', title: 'iamUser', asks: 'ums.user.list', access: admins, sort: 980 }, [
      { path: '/iam/user/addForm', title: 'iamUserAddForm', asks: 'ums.user.create' },
      { path: '/iam/user/detail/{id}', title: 'iamUserDetail' },
    ]),
    parent({ path: '/iam/project', title: 'iamProject', asks: 'iam.project.list', access: admins, sort: 970 }, [
      { path: '/iam/project/addForm', title: 'iamProjectAddForm', asks: 'iam.project.create' },
      { path: '/iam/project/{id}', title: 'iamProjectDetail' },
    ]),
    parent({ path: '/iam/role', title: 'iamRole', asks: 'iam.role.list', access: admins, sort: 960 }, [
      { path: '/iam/role/addForm', title: 'iamRoleAddForm', asks: 'iam.role.create' },
      { path: '/iam/role/detail/{id}', title: 'iamRoleDetail' },
    ]),
    parent({ path: '/iam/policie', title: 'iamPolicie', asks: 'iam.policy.list', access: admins, sort: 950 }, [
      { path: '/iam/policie/addForm', title: 'iamPolicieAddForm', asks: 'iam.policy.create' },
      { path: '/iam/policie/contact/{id}', title: 'iamPolicieContact' },
      { path: '/iam/policie/version{id}', title: 'iamPolicieVersion' },
      { path: '/iam/policie/versionDetail/{policyId}/{versionId}', title: 'iamPolicieVersionDetail', back: 'history' },
    ]),
    { path: '/iam/authorize', title: 'iamAuthorize', asks: 'iam.grant.list', access: admins, sort: 940 },
    parent({ path: '/iam/serve', title: 'iamServe', asks: 'iam.service.list', access: admins, sort: 930 }, [
      { path: '/iam/serve/addForm', title: 'iamServeAddForm', asks: 'iam.service.create' },
      { path: '/iam/serve/{id}', title: 'iamServeDetail' },
    ]),
    parent({ path: '/iam/resource', title: 'iamResource', asks: 'iam.resource.list', access: admins, sort: 920 }, [
      { path: '/iam/resource/addForm', title: 'iamResourceAddForm', asks: 'iam.resource.create' },
      { path: '/iam/resource/{id}', title: 'iamResourceDetail' },
    ]),
    { path: '/iam/audit', title: 'iamAudit', asks: 'iam.audit.list', access: admins, sort: 910 },
  ],
  organisation: [
    parent({ path: '/organisation/members', title: 'organisationMembers', asks: 'ums.user.list', access: keepsOwn, sort: 990 }, [
      { path: '/organisation/members/add', title: 'iamUserAddForm', asks: 'ums.user.create' },
      { path: '/organisation/members/{id}', title: 'iamUserDetail' },
    ]),
    parent({ path: '/organisation/projects', title: 'iamProject', asks: 'iam.project.list', access: keepsOwn, sort: 980 }, [
      { path: '/organisation/projects/add', title: 'iamProjectAddForm', asks: 'iam.project.create' },
      { path: '/organisation/projects/{id}', title: 'iamProjectDetail' },
    ]),
    parent({ path: '/organisation/roles', title: 'iamRole', asks: 'iam.role.list', access: keepsOwn, sort: 970 }, [
      { path: '/organisation/roles/add', title: 'iamRoleAddForm', asks: 'iam.role.create' },
      { path: '/organisation/roles/{id}', title: 'iamRoleDetail' },
    ]),
    parent({ path: '/organisation/policies', title: 'iamPolicie', asks: 'iam.policy.list', access: keepsOwn, sort: 960 }, [
      { path: '/organisation/policies/add', title: 'iamPolicieAddForm', asks: 'iam.policy.create' },
      { path: '/organisation/policies/{id}', title: 'iamPolicieVersion' },
      { path: '/organisation/policies/{id}/contacts', title: 'iamPolicieContact' },
      { path: '/organisation/policies/{policyId}/versions/{versionId}', title: 'iamPolicieVersionDetail', back: 'history' },
    ]),
    { path: '/organisation/authorization', title: 'iamAuthorize', asks: 'iam.grant.list', access: keepsOwn, sort: 950 },
    { path: '/organisation/access-keys', title: 'organisationAccessKeys', asks: 'ums.accessKey.listAll', access: keepsOwn, sort: 930 },
    { path: '/organisation/sign-on', title: 'organisationSignOn', asks: 'ums.identityProvider.list', access: keepsOwn, sort: 920 },
    { path: '/organisation/audit', title: 'iamAudit', asks: 'iam.audit.list', access: keepsOwn, sort: 910 },
  ],
  platform: [
    { path: '/area', title: 'area', asks: 'ecrm.region.list', access: admins, sort: 990 },
    parent({ path: '/website', title: 'website', asks: 'ecrm.site.list', access: admins, sort: 980 }, [
      { path: '/websiteDetail/{id}/{name}/{regionid}', title: 'websiteDetail' },
    ]),
    { path: '/infrastructure/cloudy', title: 'infrastructureCloudy', asks: 'cmp.cloud.list', access: admins, sort: 970 },
    { path: '/gateway', title: 'gateway', asks: 'ecrm.gateway.list', access: admins, sort: 960 },
    parent({ path: '/configure', title: 'configure', asks: 'sys.config.list', access: admins, sort: 950 }, [
      { path: '/configureDetail', title: 'configureDetail' },
    ]),
  ],
  separateAccounting: [
    parent(
      {
        path: '/separateAccountingSystem/provider',
        title: 'separateAccountingSystemProvider',
        asks: 'split.provider.list',
        access: supporters,
        section: 'split',
        sort: 990,
      },
      [{ path: '/separateAccountingSystem/provider/{id}', title: 'separateAccountingSystemProviderDetail' }],
    ),
    parent(
      {
        path: '/separateAccountingSystem/management',
        title: 'separateAccountingSystemManagement',
        asks: 'split.contract.list',
        access: supporters,
        section: 'split',
        sort: 980,
      },
      [{ path: '/separateAccountingSystem/management/{id}', title: 'separateAccountingSystemManagementDetail' }],
    ),
    {
      path: '/separateAccountingSystem/record',
      title: 'separateAccountingSystemRecord',
      asks: 'split.run.list',
      access: supporters,
      section: 'split',
      sort: 970,
    },
    {
      path: '/separateAccountingSystem/providers_record',
      title: 'separateAccountingSystemProvidersRecord',
      asks: 'split.run.list',
      access: providers,
      section: 'provider',
      sort: 960,
    },
    {
      path: '/separateAccountingSystem/resources',
      title: 'separateAccountingSystemResources',
      asks: 'split.figure.mine',
      access: providers,
      section: 'provider',
      sort: 950,
    },
    parent(
      {
        path: '/separateAccountingSystem/operationaldata',
        title: 'separateAccountingSystemOperationaldata',
        asks: 'split.figure.get',
        access: admins,
        section: 'data',
        sort: 940,
      },
      [{ path: '/separateAccountingSystem/operationaldata/{id}', title: 'separateAccountingSystemOperationaldataDetail' }],
    ),
    parent(
      {
        path: '/separateAccountingSystem/resourcedata',
        title: 'separateAccountingSystemResourcedata',
        asks: 'split.figure.get',
        access: admins,
        section: 'data',
        sort: 930,
      },
      [{ path: '/separateAccountingSystem/resourcedata/{id}/{gpuname}', title: 'separateAccountingSystemResourcedataDetail' }],
    ),
  ],
  workOrder: [
    parent({ path: '/workOrderlist', title: 'workOrderlist', access: ['COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'], kind: 'page' }, [
      { path: '/workOrderlist/{id}', title: 'workOrderDetail' },
    ]),
    { path: '/workOrderCenter', title: 'workOrderCenter', access: ['COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'], kind: 'page' },
    parent({ path: '/tickets', title: 'tickets', access: 'all', kind: 'page' }, [{ path: '/tickets/{id}', title: 'ticketDetail' }]),
  ],
} as const satisfies Readonly<Record<RouteGroup, Group>>

/**
 * All routes there are. Guard, menus, drawer, sidebar, breadcrumbs and titles read this table, and nothing else
 * decides. It knows no page: what draws one reads it too, and scripts read it without a browser.
 */
export const routes: readonly Route[] = (Object.entries(table) as [RouteGroup, Group][]).flatMap(([group, entries]) =>
  entries.flatMap(({ under = [], ...entry }): Route[] => [
    { kind: 'menu', ...entry, group },
    ...under.map((page): Route => ({ access: entry.access, back: 'parent', ...page, group, kind: 'hidden', parent: entry.path })),
  ]),
)

type Table = (typeof table)[RouteGroup][number]
type Built<R> = R extends { readonly pending: true } ? never : R extends Row ? R['path'] : never

/** The path of a row that has a page. */
export type BuiltPath = Built<Table> | Built<Extract<Table, { readonly under: unknown }>['under'][number]>

/**
 * `/vm/detail/{id}` as the router writes it: `/vm/detail/:id`. Its parameters are whole segments,
 * so that of `/iam/policie/version{id}` keeps the word in its value.
 */
export const routerPath = (path: string): string => path.replace(/[^/{]*\{(\w+)(\??)\}/g, ':$1$2')

/** Whether a page stands behind an address as the table spells it: nothing leads to one that is pending. */
export const isBuilt = (path: string): boolean => routes.some((route) => route.path === path && route.pending === undefined)
