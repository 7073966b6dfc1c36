import type { Call } from './define.ts'
import { nodeStacks, services, stackConfigs, stackDeployments, stacks, templates } from './aos/stack.ts'
import { accounts } from './bill/account.ts'
import { arrearsPolicies, standings } from './bill/arrears.ts'
import { budgets } from './bill/budget.ts'
import { categories, discounts, priceLists, products, quotes, skus, unpriced } from './bill/catalogue.ts'
import { consumes } from './bill/consume.ts'
import { notices } from './bill/notice.ts'
import { orders, prepaids } from './bill/order.ts'
import { invoices, invoiceTitles } from './bill/invoice.ts'
import { paymentChannels, topups } from './bill/topup.ts'
import { configs as containerConfigs, containers, deployments } from './cis/container.ts'
import { changes } from './change.ts'
import { clouds } from './cmp/cloud.ts'
import { edgeImages, edges, edgeUpgrades, enrolments, gateways, serviceAgents } from './ecrm/edge.ts'
import { lookups, regions, sites } from './ecrm/region.ts'
import { firewallGroups, firewallPolicies, firewallRules, firewallServices } from './compute/firewall.ts'
import { computeFlavors } from './compute/flavor.ts'
import { computeImages } from './compute/image.ts'
import { keystoneProjects } from './compute/project.ts'
import { computeFloatingIps } from './compute/floating-ip.ts'
import { computeSecurityGroups } from './compute/security-group.ts'
import { computeVolumeBackups, computeVolumes, computeVolumeSnapshots, computeVolumeTransfers, computeVolumeTypes } from './compute/volume.ts'
import { computeNetworks, computePorts, computeSubnets } from './compute/network.ts'
import { computeRouters } from './compute/router.ts'
import { availabilityZones, computeInstances, serverGroups } from './compute/instance.ts'
import { recycledInstances, retentions } from './compute/recycled.ts'
import { preheats, thirdRegistries } from './ims/preheat.ts'
import { registryProjects, repositories, repositoryAccess, tagBin } from './ims/project.ts'
import { registries, registryCommands, registryUsers } from './ims/registry.ts'
import { fileEntries, fileShares, fileSpaces, fileTransfers, fileUploads } from './files/file.ts'
import { machineCopies } from './files/machine.ts'
import { audits } from './iam/audit.ts'
import { decisions } from './iam/decision.ts'
import { boundaries, grants } from './iam/grant.ts'
import { policies } from './iam/policy.ts'
import { keptProjects } from './iam/project.ts'
import { customRoles } from './iam/role.ts'
import { resourceTypes, services as callServices } from './iam/service.ts'
import { projects } from './issue/project.ts'
import { cards, marketNodes } from './market/card.ts'
import { offers } from './market/offer.ts'
import { providers } from './market/provider.ts'
import { incomes, rentals, waits } from './market/rental.ts'
import { serviceGateways, servicePorts } from './middleware/gateway.ts'
import { databaseServices, serviceAccounts, serviceDatabases } from './middleware/service.ts'
import { modelImports } from './models/import.ts'
import { modelFiles, modelRevisions, models } from './models/model.ts'
import { commands } from './nextstack/command.ts'
import { hosts } from './nextstack/host.ts'
import { flavors } from './nextstack/flavor.ts'
import { keyPairs } from './nextstack/key-pair.ts'
import { eipPools, eips } from './nextstack/eip.ts'
import { natGateways } from './nextstack/nat.ts'
import { overview } from './nextstack/overview.ts'
import { quotas } from './nextstack/quota.ts'
import { imageLibrary } from './nextstack/image.ts'
import { securityGroups } from './nextstack/security-group.ts'
import { snapshots, snapshotSchedules } from './nextstack/snapshot.ts'
import { images, networks, terminals, vms } from './nextstack/vm.ts'
import { storagePools, volumeBackups, volumes, volumeSnapshots } from './nextstack/volume.ts'
import { vpcs } from './nextstack/vpc.ts'
import { alarms, alarmWindows, alertLogs, receivers } from './omc/alarm.ts'
import { events, eventSubscriptions } from './omc/event.ts'
import { apiEvents, apiLogs } from './omc/log.ts'
import { integrations, prometheus } from './omc/monitor.ts'
import { stats } from './omc/stats.ts'
import { tasks } from './omc/task.ts'
import { terms } from './root/terms.ts'
import { bundles } from './sys/bundle.ts'
import { messages } from './sys/message.ts'
import { configs, licences, system } from './sys/sys.ts'
import { accessKeys } from './ums/access-key.ts'
import { auth, verification } from './ums/auth.ts'
import { consultations } from './ums/consultation.ts'
import { identities, identityProviders, singleSignOn } from './ums/identityProvider.ts'
import { invitations } from './ums/invitation.ts'
import { passkeys } from './ums/passkey.ts'
import { secondFactor } from './ums/second-factor.ts'
import { organisations, users } from './ums/user.ts'
import { splitBankDetails } from './split/bank.ts'
import { splitContracts, splitRuns } from './split/contract.ts'
import { splitChannel, splitPayouts } from './split/payout.ts'
import { splitCases, splitReconciliations } from './split/reconciliation.ts'
import { splitFigures, splitProviders } from './split/provider.ts'
import { tickets } from './ticket/ticket.ts'
import { cannedAnswers, ticketDesk, ticketGroups, ticketHours } from './ticket/desk.ts'

/** Every call there is, by family and resource. What is not here cannot be served. */
export const calls = {
  sys: { system, configs, licences, messages, bundles, changes },
  ums: {
    auth,
    verification,
    users,
    secondFactor,
    passkeys,
    identityProviders,
    identities,
    singleSignOn,
    accessKeys,
    organisations,
    invitations,
    consultations,
  },
  bill: {
    accounts,
    categories,
    products,
    skus,
    discounts,
    quotes,
    priceLists,
    unpriced,
    consumes,
    arrearsPolicies,
    standings,
    notices,
    budgets,
    orders,
    prepaids,
    topups,
    paymentChannels,
    invoices,
    invoiceTitles,
  },
  middleware: { serviceGateways, servicePorts, databaseServices, serviceDatabases, serviceAccounts },
  cmp: { clouds },
  nextstack: {
    vms,
    terminals,
    snapshots,
    snapshotSchedules,
    flavors,
    keyPairs,
    commands,
    images,
    imageLibrary,
    networks,
    quotas,
    vpcs,
    securityGroups,
    natGateways,
    eips,
    eipPools,
    volumes,
    volumeSnapshots,
    volumeBackups,
    storagePools,
    hosts,
    overview,
  },
  compute: {
    flavors: computeFlavors,
    volumes: computeVolumes,
    volumeTypes: computeVolumeTypes,
    volumeSnapshots: computeVolumeSnapshots,
    volumeBackups: computeVolumeBackups,
    volumeTransfers: computeVolumeTransfers,
    networks: computeNetworks,
    subnets: computeSubnets,
    ports: computePorts,
    routers: computeRouters,
    floatingIps: computeFloatingIps,
    images: computeImages,
    keystoneProjects,
    securityGroups: computeSecurityGroups,
    firewallServices,
    firewallGroups,
    firewallPolicies,
    firewallRules,
    instances: computeInstances,
    serverGroups,
    zones: availabilityZones,
    recycledInstances,
    retentions,
  },
  aos: { templates, stacks, services, stackDeployments, stackConfigs, nodeStacks },
  cis: { containers, deployments, configs: containerConfigs },
  ecrm: { edges, edgeImages, edgeUpgrades, enrolments, gateways, lookups, regions, sites, serviceAgents },
  iam: { policies, customRoles, keptProjects, grants, boundaries, decisions, audits, services: callServices, resourceTypes },
  ims: { registries, registryUsers, registryCommands, registryProjects, repositories, repositoryAccess, tagBin, preheats, thirdRegistries },
  files: { fileSpaces, fileEntries, fileUploads, fileShares, fileTransfers, machineCopies },
  models: { models, modelFiles, modelRevisions, modelImports },
  market: { providers, marketNodes, cards, offers, rentals, incomes, waits },
  issue: { projects },
  split: { splitContracts, splitRuns, splitProviders, splitFigures, splitBankDetails, splitPayouts, splitChannel, splitCases, splitReconciliations },
  ticket: { tickets, ticketDesk, ticketGroups, cannedAnswers, ticketHours },
  omc: { stats, integrations, prometheus, alarms, alarmWindows, alertLogs, receivers, apiLogs, apiEvents, tasks, events, eventSubscriptions },
  root: { terms },
} as const

/** The same as a flat list, for sweeps: binding, OpenAPI, permission matrix, fuzz test. */
export const allCalls: readonly Call[] = Object.values(calls).flatMap((family) =>
  Object.values(family).flatMap((resource: Readonly<Record<string, Call>>) => Object.values(resource)),
)
