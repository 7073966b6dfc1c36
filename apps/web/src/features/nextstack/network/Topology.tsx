import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useCall } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { isPassing } from './vpcRules.ts'
import './topology.css'

/** From the outside, through the gateway, to the instances: boxes and lines that are text too. */
export function Topology({ vpc }: { readonly vpc: Vpc }) {
  const { t } = useTranslation('network')
  const { data, error, refetch } = useCall(vpcs.topology, { params: { id: vpc.id } }, { silent: true, refreshMs: whilePassing([vpc], isPassing) })
  if (data === undefined) return error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const { nat, vms } = data
  return (
    <figure className="nt-topology" aria-label={t('topology.label', { name: vpc.name })}>
      <div className="nt-box nt-outside">{t('topology.outside')}</div>
      <div className="nt-line" aria-hidden="true" />
      {nat === null ? (
        <div className="nt-box nt-missing">{t('topology.noNat')}</div>
      ) : (
        <div className="nt-box">
          <Link to={paths.nextstack.nat.detail(nat.id)}>{nat.name}</Link>
          {nat.snat && <div className="nt-note">{nat.snat_address === null ? t('topology.snatHost') : t('topology.snat', { address: nat.snat_address })}</div>}
          <ul className="zs-list nt-rules">
            {nat.rules.map((rule) => (
              <li key={rule.id} className="zs-code">
                {t('topology.rule', { protocol: rule.protocol.toUpperCase(), outside: rule.outside, inside: rule.inside })}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="nt-line" aria-hidden="true" />
      <section className="nt-network">
        <h2>
          {vpc.name} <span className="zs-code">{vpc.cidr}</span>
        </h2>
        {vms.length === 0 ? (
          <p className="zs-soft">{t('topology.noVms')}</p>
        ) : (
          <ul className="nt-vms">
            {vms.map((vm) => (
              <li key={vm.id} className="nt-box" data-status={vm.status}>
                <Link to={paths.nextstack.vm.detail(vm.id)}>{vm.name}</Link>
                <div className="zs-code">{vm.address}</div>
                {vm.eip !== null && <div className="nt-eip zs-code">EIP {vm.eip}</div>}
                {vm.security_groups.length > 0 && <div className="nt-note">{vm.security_groups.map(({ name }) => name).join('、')}</div>}
              </li>
            ))}
          </ul>
        )}
      </section>
      <figcaption className="zs-soft">{t('vpc.isolation')}</figcaption>
    </figure>
  )
}
