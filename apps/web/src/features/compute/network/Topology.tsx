import { computeNetworks, computePorts, type ComputeNetwork, type ComputePort } from '@zhisuan/contract/compute/network'
import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { isBroken, Trouble } from '../Trouble.tsx'
import { subnetLabel } from './networkText.ts'
import './topology.css'

/** Of so many instances in one network each is shown; the rest behind a line that opens. */
const shownInstances = 12

/** From outside, by routers, into networks with what is in them: boxes that are text too, in the order in which packets go. */
export function Topology({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeNetwork')
  const networks = useCloudLines(computeNetworks.list, cloudId)
  const routers = useCloudLines(computeRouters.list, cloudId)
  const ports = useCloudLines(computePorts.list, cloudId)
  const failed = [networks, routers, ports].find(isBroken)
  if (failed !== undefined) return <Trouble of={[networks, routers, ports]} />
  if (networks.data?.done !== true || routers.data?.done !== true || ports.data?.done !== true) return <PagePlaceholder />
  const { names } = ports.data
  const allRouters = routers.data.items
  const external = networks.data.items.filter((network) => network.external)
  const inner = networks.data.items.filter((network) => !network.external)
  const plugged = Map.groupBy(
    ports.data.items.filter(({ use }) => use === 'instance'),
    ({ network_id }) => network_id,
  )
  const joined = new Map(allRouters.map((router) => [router.id, new Set(router.interfaces.map(({ network_id }) => network_id))]))
  const joinedAtAll = new Set([...joined.values()].flatMap((ids) => [...ids]))
  const alone = inner.filter(({ id }) => !joinedAtAll.has(id))
  if (inner.length === 0 && allRouters.length === 0) return <EmptyState title={t('topology.empty')}>{t('topology.emptyNote')}</EmptyState>

  const part = (key: string, router: ComputeRouter | null, networksOfPart: readonly ComputeNetwork[]) => (
    <RouterPart
      key={key}
      router={router}
      networks={networksOfPart}
      plugged={plugged}
      names={names}
      joins={(id) => allRouters.filter((one) => joined.get(one.id)?.has(id) === true && one.id !== router?.id)}
    />
  )
  const behind = (networkId: string | null) => allRouters.filter(({ gateway }) => (gateway?.network_id ?? null) === networkId)
  return (
    <>
      <FailedServices failed={ports.data.failed} onRetry={() => void ports.refetch()} />
      <figure className="ct-topology" aria-label={t('topology.label')}>
        {external.map((network) => (
          <section key={network.id} className="ct-zone">
            <h2 className="ct-outside">
              <Link to={paths.compute.network.detail(network.id)}>{network.name === '' ? network.id : network.name}</Link>
              <span className="ct-soft">{t('network.external')}</span>
            </h2>
            {behind(network.id).length === 0 ? (
              <p className="ct-soft">{t('topology.noRouters')}</p>
            ) : (
              behind(network.id).map((router) =>
                part(
                  router.id,
                  router,
                  inner.filter(({ id }) => joined.get(router.id)?.has(id) === true),
                ),
              )
            )}
          </section>
        ))}
        {behind(null).length > 0 && (
          <section className="ct-zone">
            <h2 className="ct-outside ct-missing">{t('router.noGateway')}</h2>
            {behind(null).map((router) =>
              part(
                router.id,
                router,
                inner.filter(({ id }) => joined.get(router.id)?.has(id) === true),
              ),
            )}
          </section>
        )}
        {alone.length > 0 && (
          <section className="ct-zone">
            <h2 className="ct-outside ct-missing">{t('topology.alone')}</h2>
            {part('alone', null, alone)}
          </section>
        )}
      </figure>
    </>
  )
}

interface PartProps {
  readonly router: ComputeRouter | null
  readonly networks: readonly ComputeNetwork[]
  readonly plugged: ReadonlyMap<string, readonly ComputePort[]>
  readonly names: Readonly<Record<string, string>>
  /** Other routers that a network is in. */
  readonly joins: (networkId: string) => readonly ComputeRouter[]
}

/** A router with the networks that it joins; without one, networks that nothing leads out of. */
function RouterPart({ router, networks, plugged, names, joins }: PartProps) {
  const { t } = useTranslation('computeNetwork')
  return (
    <div className="ct-part">
      {router !== null && (
        <div className="ct-box ct-router">
          <Link to={paths.compute.router.detail(router.id)}>{router.name === '' ? router.id : router.name}</Link>
          <div className="ct-soft">{t('topology.router')}</div>
          {router.gateway !== null && <div className="zs-code">{router.gateway.addresses.join('、')}</div>}
        </div>
      )}
      {networks.length === 0 ? (
        <p className="ct-soft">{t('router.noSubnets')}</p>
      ) : (
        <ul className="ct-networks">
          {networks.map((network) => (
            <li key={network.id} className="ct-network">
              <h4>
                <Link to={paths.compute.network.detail(network.id)}>{network.name === '' ? network.id : network.name}</Link>
                {network.shared && <span className="ct-soft">{t('network.shared')}</span>}
              </h4>
              <ul className="zs-list ct-subnets zs-code" aria-label={t('tab.subnets')}>
                {network.subnets.map((subnet) => (
                  <li key={subnet.id}>{subnetLabel(subnet)}</li>
                ))}
              </ul>
              {joins(network.id).length > 0 && (
                <p className="ct-soft">
                  {t('topology.alsoIn', {
                    names: joins(network.id)
                      .map(({ name }) => name)
                      .join('、'),
                  })}
                </p>
              )}
              <Instances ports={plugged.get(network.id) ?? []} names={names} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Instances({ ports, names }: { readonly ports: readonly ComputePort[]; readonly names: Readonly<Record<string, string>> }) {
  const { t } = useTranslation('computeNetwork')
  if (ports.length === 0) return <p className="ct-soft">{t('topology.noInstances')}</p>
  const list = (some: readonly ComputePort[]) => (
    <ul className="ct-instances">
      {some.map((port) => (
        <li key={port.id} className="ct-box">
          {port.device_id === null ? (
            t('use.instance')
          ) : (
            <Link to={paths.compute.instance.detail(port.device_id)}>{names[port.device_id] ?? port.device_id}</Link>
          )}
          <div className="zs-code">{port.addresses.map(({ address }) => address).join('、')}</div>
        </li>
      ))}
    </ul>
  )
  return (
    <>
      <p className="ct-soft">{t('topology.instances', { count: ports.length })}</p>
      {list(ports.slice(0, shownInstances))}
      {ports.length > shownInstances && (
        <details>
          <summary>{t('topology.more', { count: ports.length - shownInstances })}</summary>
          {list(ports.slice(shownInstances))}
        </details>
      )}
    </>
  )
}
