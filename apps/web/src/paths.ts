/** The values that a template wants, in the order in which they stand. */
type Values<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name extends `${string}?`
    ? [value?: string, ...Values<Rest>]
    : [value: string, ...Values<Rest>]
  : []

export interface PathBuilder<P extends string = string> {
  (...values: Values<P>): string
  /** The row of routes.ts that it builds addresses of. */
  readonly template: P
}

function path<const P extends string>(template: P): PathBuilder<P> {
  const build = (...values: Values<P>): string => {
    const rest: (string | undefined)[] = [...values]
    const filled = template.replace(/\{\w+\??\}/g, () => encodeURIComponent(rest.shift() ?? ''))
    return filled.length > 1 ? filled.replace(/\/$/, '') : filled
  }
  return Object.assign(build, { template })
}

/** Adds a query string; undefined and empty values stay out. */
export function withQuery(to: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(key, String(value))
  const text = search.toString()
  return text === '' ? to : `${to}${to.includes('?') ? '&' : '?'}${text}`
}

/** In the address of pages about one cloud's things: a link leads everybody to the same. */
export const cloudParameter = 'cloud'

let cloudHere: () => string | null = () => null
/** By what the addresses of one cloud's things name it: what knows that stands above this. */
export const nameCloudBy = (read: () => string | null): void => {
  cloudHere = read
}

function cloudPath<const P extends string>(template: P): PathBuilder<P> {
  const bare = path(template)
  return Object.assign((...values: Values<P>) => withQuery(bare(...values), { [cloudParameter]: cloudHere() ?? undefined }), { template })
}

/** Every address of the console. Nobody writes one as a string. */
export const paths = {
  welcome: path('/'),
  login: path('/login'),
  register: path('/register'),
  messageBoard: path('/messageBoard'),
  termsOfService: path('/Terms-of-Service'),
  market: {
    list: path('/market'),
    rent: path('/market/rentals/add'),
    rental: { list: path('/market/rentals'), detail: path('/market/rentals/{id}') },
    provider: path('/market/provider'),
    administration: path('/market/administration'),
  },
  warehouse: { list: path('/warehouse'), detail: path('/warehouse/{id}') },
  notFound: path('/404'),
  forbidden: path('/403'),
  /** Of development servers; no page of the product, so no row of routes.ts. */
  developmentInbox: '/dev/inbox',
  overview: path('/index'),
  order: { list: path('/order'), detail: path('/orderdesc/{id}') },
  licence: path('/license'),
  account: path('/userMsg'),
  messages: path('/messages'),
  tasks: path('/tasks'),
  help: { list: path('/help'), detail: path('/help/helpCenter/{id}') },
  nextstack: {
    vm: {
      list: path('/nextStack/vm'),
      add: path('/nextStack/vm/add'),
      detail: path('/nextStack/vm/detail/{id}'),
      /** The instance comes in the query: `withQuery(paths.nextstack.vm.command(), { id })`. */
      command: path('/nextStack/vmCommand'),
    },
    flavor: { list: path('/nextStack/flavors'), detail: path('/nextStack/flavor/detail/{id}') },
    snap: { list: path('/nextStack/snaps'), detail: path('/nextStack/snap/detail/{id}') },
    publicKey: { list: path('/nextStack/publicKey'), detail: path('/nextStack/publicKey/detail/{id}') },
    vpc: { list: path('/nextStack/vpc'), detail: path('/nextStack/vpc/detail/{id}') },
    securityGroup: { list: path('/nextStack/secGroups'), detail: path('/nextStack/secGroups/detail/{id}') },
    nat: { list: path('/nextStack/Nat'), detail: path('/nextStack/Nat/detail/{id}') },
    eip: { list: path('/nextStack/eip'), add: path('/nextStack/eip/add') },
    eipPool: { list: path('/nextStack/eipPool'), detail: path('/nextStack/eipPool/detail/{id}') },
    volume: {
      list: path('/nextStack/volumes'),
      add: path('/nextStack/volumes/add'),
      detail: path('/nextStack/volumes/detail/{id}'),
      restore: path('/nextStack/volumes/restore/{id}'),
    },
    volumeSnap: { list: path('/nextStack/volumesSnap'), detail: path('/nextStack/volumesSnap/detail/{id}') },
    hypervisorNode: { list: path('/nextStack/hypervisorNodes'), detail: path('/nextStack/hypervisorNodes/detail/{id}') },
    storagePool: { list: path('/nextStack/storagePool'), detail: path('/nextStack/storagePool/detail/{id}') },
    publicImage: { list: path('/nextStack/publicImage'), detail: path('/nextStack/publicImage/detail/{id}') },
    privateImage: { list: path('/nextStack/privateImage'), detail: path('/nextStack/privateImage/detail/{id}') },
  },
  /** Each names the cloud that the page is about on which the link stands. */
  compute: {
    instance: {
      list: cloudPath('/instance'),
      recovery: cloudPath('/instance-recovery'),
      add: cloudPath('/instanceadd'),
      detail: cloudPath('/instancedesc/{id}'),
    },
    instanceSnapshot: { list: cloudPath('/instance-snapshot'), detail: cloudPath('/instance-snapshotdesc/{id}') },
    flavor: { list: cloudPath('/flavor'), detail: cloudPath('/flavordesc/{id}') },
    image: { list: cloudPath('/image'), detail: cloudPath('/imagedesc/{id}'), add: cloudPath('/imageadd') },
    keypair: { list: cloudPath('/keypair'), detail: cloudPath('/keypairdesc/{id}') },
    network: { list: cloudPath('/networks'), detail: cloudPath('/networksdesc/{id}'), subnet: cloudPath('/subnetdesc/{id}/{network_id}') },
    port: { list: cloudPath('/port'), detail: cloudPath('/portdesc/{id}') },
    router: { list: cloudPath('/router'), detail: cloudPath('/routerdesc/{id}') },
    floatingIp: { list: cloudPath('/floatingip'), detail: cloudPath('/floatingipdesc/{id}') },
    securityGroup: { list: cloudPath('/security-group'), detail: cloudPath('/security-groupdesc/{id}') },
    firewall: { list: cloudPath('/firewall'), strategies: cloudPath('/firewall-strategy'), rules: cloudPath('/firewall-rule') },
    volume: { list: cloudPath('/volume'), detail: cloudPath('/volumedesc/{id}'), add: cloudPath('/volumeadd') },
    backup: { list: cloudPath('/backup'), detail: cloudPath('/backupdesc/{id}') },
    snapshot: { list: cloudPath('/snapshot'), detail: cloudPath('/snapshotdesc/{id}') },
  },
  container: {
    node: {
      list: path('/infrastructure/node'),
      detail: path('/infrastructure/nodeList/{id}'),
      images: path('/mirror/imageFromNode/{id}/{name}'),
      add: path('/infrastructure/addNodes'),
    },
    deployment: {
      list: path('/containerApplicationService/containerDeploy'),
      add: path('/containerApplicationService/addcontainer'),
      containers: path('/containerApplicationService/deployContainer/{id}/{name}'),
      containerDetail: path('/containerApplicationService/deployContainDetail/{id}'),
    },
    application: {
      list: path('/containerApplicationService/applicationDeploy'),
      detail: path('/containerApplicationService/deploySystemContainer/{id}/{name}'),
      services: path('/containerApplicationService/serviceFromApp/{id}/{name}'),
      containers: path('/containerApplicationService/containerFromService/{id}/{name}'),
      containerDetail: path('/containerApplicationService/serviceContainDetail/{id}'),
    },
    template: { list: path('/containerApplicationService/appTemplate'), version: path('/containerApplicationService/version') },
    configuration: {
      list: path('/containerApplicationService/appConfigure'),
      detail: path('/containerApplicationService/configureInformation'),
    },
    command: path('/command/{id}/{name}'),
  },
  cluster: {
    list: path('/serverCluster/list'),
    add: path('/serverCluster/add'),
    addK3s: path('/serverCluster/k3sAdd'),
    import: path('/serverCluster/import'),
    type: path('/serverCluster/clusterType'),
    edit: path('/serverCluster/edit/{id}'),
    detail: path('/serverCluster/detail/{id}/{name}'),
    template: {
      list: path('/serverCluster/templateList'),
      add: path('/serverCluster/templateAdd/{type}/{id}'),
      detail: path('/serverCluster/templateInformation/{id}'),
      version: path('/serverCluster/versionInformation/{type}/{id}'),
      editVersion: path('/serverCluster/modifyTemplateVersions/{type}/{id}'),
      editK3sVersion: path('/serverCluster/modifyK3sTemplateVersions/{type}/{id}'),
      addVersion: path('/serverCluster/addTemplateVersions/{id}'),
    },
  },
  helm: {
    app: { list: path('/appMarket/appList'), detail: path('/appMarket/appDetail') },
    installed: { list: path('/appMarket/appInstalled'), detail: path('/appMarket/appInstalledDetail') },
    repo: { list: path('/appMarket/repoList'), add: path('/appMarket/repoAdd'), detail: path('/appMarket/repoDetail/{name}') },
  },
  registry: {
    service: path('/mirror/service'),
    preDownloads: path('/mirror/imagesDownloadList'),
    users: path('/mirror/userControl'),
    project: path('/mirror/project'),
    repositories: path('/mirror/wareserve/warehouse/{registryId}/{projectId}'),
    repository: path('/mirror/wareserve/detail/{registryId}/{projectId}/{repoName}'),
    tag: path('/mirror/warehouse/detail'),
    thirdParty: path('/mirror/thirdParty'),
    /** The specification's spelling. */
    privateRegistry: path('/mirror/privoteParty'),
  },
  middleware: {
    mysql: path('/middleware/MySQL'),
    postgresql: path('/middleware/PostgreSQL'),
    redis: path('/middleware/redis'),
    service: {
      list: path('/middleware/service'),
      add: path('/middleware/service/add'),
      detail: path('/middleware/service/detail/{id}/{type}/{deployment}'),
    },
    gateway: { list: path('/middleware/service/gateway'), detail: path('/middleware/service/gateway/detail/{id}') },
  },
  share: path('/share/{token}'),
  files: { personal: path('/personalSpace'), public: path('/publicSpace'), transfers: path('/transferRecord') },
  operations: {
    statistics: path('/statistics'),
    alarmLogs: path('/statistics/alarm'),
    alarm: { list: path('/alarmmanagement'), detail: path('/alarmdetails/{id}'), edit: path('/addalarm/{id?}') },
    log: path('/statistics/log'),
    event: path('/statistics/event'),
    component: {
      center: path('/component/center'),
      installations: path('/component/installation'),
      installation: path('/component/installation/{id}'),
      install: path('/component/installationadd/{id}'),
      installTemplate: path('/component/installationaddTemplate/{id}/{name}'),
    },
    prometheus: { list: path('/component/prometheus'), detail: path('/component/prometheus/{id}') },
  },
  billing: {
    category: path('/category'),
    product: { list: path('/product'), detail: path('/productdesc/{id}') },
    discount: path('/discount'),
    account: path('/account'),
    month: path('/monthOverview'),
    monthDetail: path('/consumerdesc/{id}/{date}'),
    consumption: path('/consumerDetails'),
    order: { list: path('/order'), detail: path('/orderdesc/{id}') },
    wallet: path('/wallet'),
    charges: path('/charge-records'),
    fund: path('/fund'),
  },
  iam: {
    partners: path('/iam/partners'),
    audit: path('/iam/audit'),
    user: { list: path('/iam/user'), add: path('/iam/user/addForm'), detail: path('/iam/user/detail/{id}') },
    project: { list: path('/iam/project'), add: path('/iam/project/addForm'), detail: path('/iam/project/{id}') },
    role: { list: path('/iam/role'), add: path('/iam/role/addForm'), detail: path('/iam/role/detail/{id}') },
    policy: {
      list: path('/iam/policie'),
      add: path('/iam/policie/addForm'),
      contact: path('/iam/policie/contact/{id}'),
      /** No slash before the id, as specified. */
      version: path('/iam/policie/version{id}'),
      versionDetail: path('/iam/policie/versionDetail/{policyId}/{versionId}'),
    },
    authorize: path('/iam/authorize'),
    service: { list: path('/iam/serve'), add: path('/iam/serve/addForm'), detail: path('/iam/serve/{id}') },
    resource: { list: path('/iam/resource'), add: path('/iam/resource/addForm'), detail: path('/iam/resource/{id}') },
  },
  /** Of an organisation's own administrators: the same pages as of `iam`, about their own organisation. */
  organisation: {
    user: { list: path('/organisation/members'), add: path('/organisation/members/add'), detail: path('/organisation/members/{id}') },
    project: { list: path('/organisation/projects'), add: path('/organisation/projects/add'), detail: path('/organisation/projects/{id}') },
    role: { list: path('/organisation/roles'), add: path('/organisation/roles/add'), detail: path('/organisation/roles/{id}') },
    policy: {
      list: path('/organisation/policies'),
      add: path('/organisation/policies/add'),
      contact: path('/organisation/policies/{id}/contacts'),
      version: path('/organisation/policies/{id}'),
      versionDetail: path('/organisation/policies/{policyId}/versions/{versionId}'),
    },
    authorize: path('/organisation/authorization'),
    accessKeys: path('/organisation/access-keys'),
    signOn: path('/organisation/sign-on'),
    audit: path('/organisation/audit'),
  },
  platform: {
    area: path('/area'),
    site: { list: path('/website'), detail: path('/websiteDetail/{id}/{name}/{regionid}') },
    clouds: path('/infrastructure/cloudy'),
    gateway: path('/gateway'),
    configuration: { list: path('/configure'), detail: path('/configureDetail') },
  },
  split: {
    provider: { list: path('/separateAccountingSystem/provider'), detail: path('/separateAccountingSystem/provider/{id}') },
    management: { list: path('/separateAccountingSystem/management'), detail: path('/separateAccountingSystem/management/{id}') },
    record: path('/separateAccountingSystem/record'),
    providerRecords: path('/separateAccountingSystem/providers_record'),
    resources: path('/separateAccountingSystem/resources'),
    operationalData: {
      list: path('/separateAccountingSystem/operationaldata'),
      detail: path('/separateAccountingSystem/operationaldata/{id}'),
    },
    resourceData: {
      list: path('/separateAccountingSystem/resourcedata'),
      detail: path('/separateAccountingSystem/resourcedata/{id}/{gpuname}'),
    },
  },
  ticket: { list: path('/tickets'), detail: path('/tickets/{id}') },
  workOrder: { list: path('/workOrderlist'), detail: path('/workOrderlist/{id}'), center: path('/workOrderCenter') },
} as const
