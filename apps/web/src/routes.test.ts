import { admins, tenants, type Access } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import document from '../../../docs/specification.md?raw'
import { routes } from './routes.ts'

/** Sections 2 and 6 of the specification: who may open which page. */
const specified: readonly (readonly [access: Access, paths: string])[] = [
  [
    'public',
    `
      / /login /register /messageBoard /Terms-of-Service /market /warehouse /warehouse/{id} /404
    `,
  ],
  [
    ['TENANT_ADMIN', 'ADMIN'],
    `
      /index
    `,
  ],
  [
    admins,
    `
      /license /nextStack/flavors /nextStack/flavor/detail/{id} /nextStack/eipPool /nextStack/eipPool/detail/{id} /nextStack/hypervisorNodes
      /nextStack/hypervisorNodes/detail/{id} /nextStack/storagePool /nextStack/storagePool/detail/{id} /nextStack/publicImage
      /nextStack/publicImage/detail/{id} /mirror/service /mirror/imagesDownloadList /mirror/userControl /mirror/thirdParty /middleware/MySQL
      /middleware/PostgreSQL /middleware/redis /middleware/service /middleware/service/add /middleware/service/detail/{id}/{type}/{deployment}
      /middleware/service/gateway /middleware/service/gateway/detail/{id} /transferRecord /statistics/event /component/center
      /component/installation /component/installation/{id} /component/installationadd/{id} /component/installationaddTemplate/{id}/{name}
      /component/prometheus /component/prometheus/{id} /category /product /productdesc/{id} /discount /account /iam/partners /iam/user
      /iam/user/addForm /iam/user/detail/{id} /iam/project /iam/project/addForm /iam/project/{id} /iam/role /iam/role/addForm
      /iam/role/detail/{id} /iam/policie /iam/policie/addForm /iam/policie/contact/{id} /iam/policie/version{id}
      /iam/policie/versionDetail/{policyId}/{versionId} /iam/authorize /iam/serve /iam/serve/addForm /iam/serve/{id} /iam/resource
      /iam/resource/addForm /iam/resource/{id} /area /website /infrastructure/cloudy /websiteDetail/{id}/{name}/{regionid} /gateway /configure
      /configureDetail /separateAccountingSystem/operationaldata /separateAccountingSystem/operationaldata/{id}
      /separateAccountingSystem/resourcedata /separateAccountingSystem/resourcedata/{id}/{gpuname}
    `,
  ],
  [
    'all',
    `
      /userMsg /help /help/helpCenter/{id}
    `,
  ],
  [
    tenants,
    `
      /nextStack/vm /nextStack/vm/add /nextStack/vm/detail/{id} /nextStack/vmCommand /nextStack/snaps /nextStack/snap/detail/{id}
      /nextStack/publicKey /nextStack/publicKey/detail/{id} /nextStack/vpc /nextStack/vpc/detail/{id} /nextStack/secGroups
      /nextStack/secGroups/detail/{id} /nextStack/Nat /nextStack/Nat/detail/{id} /nextStack/eip /nextStack/eip/add /nextStack/volumes
      /nextStack/volumes/add /nextStack/volumes/detail/{id} /nextStack/volumes/restore/{id} /nextStack/volumesSnap
      /nextStack/volumesSnap/detail/{id} /nextStack/privateImage /nextStack/privateImage/detail/{id} /instance /instance-recovery /instanceadd
      /instancedesc/{id} /instance-snapshot /instance-snapshotdesc/{id} /flavor /flavordesc/{id} /image /imagedesc/{id} /imageadd /keypair
      /keypairdesc/{id} /networks /networksdesc/{id} /subnetdesc/{id}/{network_id} /port /portdesc/{id} /router /routerdesc/{id} /floatingip
      /floatingipdesc/{id} /security-group /security-groupdesc/{id} /firewall /firewall-strategy /firewall-rule /volume /volumedesc/{id}
      /volumeadd /backup /backupdesc/{id} /snapshot /snapshotdesc/{id} /infrastructure/node /infrastructure/nodeList/{id}
      /mirror/imageFromNode/{id}/{name} /infrastructure/addNodes /containerApplicationService/containerDeploy
      /containerApplicationService/addcontainer /containerApplicationService/deployContainer/{id}/{name}
      /containerApplicationService/deployContainDetail/{id} /containerApplicationService/applicationDeploy
      /containerApplicationService/deploySystemContainer/{id}/{name} /containerApplicationService/serviceFromApp/{id}/{name}
      /containerApplicationService/containerFromService/{id}/{name} /containerApplicationService/serviceContainDetail/{id}
      /containerApplicationService/appTemplate /containerApplicationService/version /containerApplicationService/appConfigure
      /containerApplicationService/configureInformation /command/{id}/{name} /serverCluster/list /serverCluster/add /serverCluster/k3sAdd
      /serverCluster/import /serverCluster/clusterType /serverCluster/edit/{id} /serverCluster/detail/{id}/{name} /serverCluster/templateList
      /serverCluster/templateAdd/{type}/{id} /serverCluster/templateInformation/{id} /serverCluster/versionInformation/{type}/{id}
      /serverCluster/modifyTemplateVersions/{type}/{id} /serverCluster/modifyK3sTemplateVersions/{type}/{id}
      /serverCluster/addTemplateVersions/{id} /appMarket/appList /appMarket/appDetail /appMarket/appInstalled /appMarket/appInstalledDetail
      /appMarket/repoList /appMarket/repoAdd /appMarket/repoDetail/{name} /mirror/project /mirror/wareserve/warehouse/{registryId}/{projectId}
      /mirror/wareserve/detail/{registryId}/{projectId}/{repoName} /mirror/warehouse/detail /personalSpace /publicSpace /statistics
      /statistics/alarm /alarmmanagement /alarmdetails/{id} /addalarm/{id?} /statistics/log /monthOverview /consumerdesc/{id}/{date}
      /consumerDetails /order /orderdesc/{id} /wallet /charge-records /fund
    `,
  ],
  [
    ['TENANT', 'TENANT_ADMIN'],
    `
      /mirror/privoteParty
    `,
  ],
  [
    ['OPERATION_SUPPORTER', 'ADMIN'],
    `
      /separateAccountingSystem/provider /separateAccountingSystem/provider/{id} /separateAccountingSystem/management
      /separateAccountingSystem/management/{id} /separateAccountingSystem/record
    `,
  ],
  [
    ['OPERATION_SUPPORTER', 'PROVIDER', 'ADMIN'],
    `
      /separateAccountingSystem/providers_record /separateAccountingSystem/resources
    `,
  ],
  [
    ['COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'],
    `
      /workOrderlist
    `,
  ],
  [
    ['COPOTE_REVIEWER', 'COPOTE_ADMIN', 'ADMIN'],
    `
      /workOrderCenter
    `,
  ],
]
const words = (text: string): readonly string[] => text.trim().split(/\s+/)
const accessOf = (access: Access): string => (typeof access === 'string' ? access : access.toSorted().join(' '))

describe('the table of routes', () => {
  const all = new Map(specified.flatMap(([access, paths]) => words(paths).map((path) => [path, accessOf(access)] as const)))

  it('has every page of the specification, for exactly its roles', () => {
    expect(all.size).toBe(210)
    expect(Object.fromEntries(routes.filter(({ path }) => all.has(path)).map(({ path, access }) => [path, accessOf(access)]))).toEqual(Object.fromEntries(all))
  })

  it('has no other page than what docs/specification.md tells under "Pages of ours"', () => {
    const ours = document.split(/^## /m).find((section) => section.startsWith('Pages of ours')) ?? ''
    expect(routes.filter(({ path }) => !all.has(path) && !ours.includes(`\`${path}\``)).map(({ path }) => path)).toEqual([])
  })

  it('names each path once, and a parent that is an entry of a menu or a page', () => {
    expect(new Set(routes.map(({ path }) => path)).size).toBe(routes.length)
    const entries = new Set(routes.filter(({ kind }) => kind !== 'hidden').map(({ path }) => path))
    expect(routes.filter(({ kind, parent }) => (kind === 'hidden') !== (parent !== undefined && entries.has(parent))).map(({ path }) => path)).toEqual([])
  })

  it('leads back from every detail and add page, and from no other', () => {
    expect(routes.filter(({ kind, back }) => (kind === 'hidden') !== (back !== undefined)).map(({ path }) => path)).toEqual([])
  })
})
