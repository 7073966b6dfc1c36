import type { ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { toneOfIp } from './floatingIpRules.ts'

/** What things are called that one names by id. */
export type NameOf = (id: string | null) => string

/** What one leads to is called: the instance, or the port where it is none's; '' where it leads nowhere. */
export const targetName = ({ bound_to }: ComputeFloatingIp, name: NameOf): string =>
  bound_to === null ? '' : bound_to.instance_id !== null ? name(bound_to.instance_id) : bound_to.port_name === '' ? bound_to.fixed_address : bound_to.port_name

export const stateOf = (t: TFunction<'computeFloatingIp'>, ip: ComputeFloatingIp) => ({
  tone: toneOfIp(ip),
  text: t(ip.bound_to === null ? 'use.free' : 'use.bound'),
  // What is bound to what does not run is no fault: it is only said.
  note: ip.bound_to === null || ip.status === 'active' ? null : t(`statusNote.${ip.status}`),
})

export function FloatingIpState({ ip }: { readonly ip: ComputeFloatingIp }) {
  const { t } = useTranslation('computeFloatingIp')
  const { tone, text, note } = stateOf(t, ip)
  return <StatusTag tone={tone}>{note === null ? text : `${text} · ${note}`}</StatusTag>
}

/** The page of what one leads to. */
export function TargetLink({ ip, name }: { readonly ip: ComputeFloatingIp; readonly name: NameOf }) {
  const { bound_to } = ip
  if (bound_to === null) return null
  const text = targetName(ip, name)
  const to = bound_to.instance_id === null ? paths.compute.port.detail(bound_to.port_id) : paths.compute.instance.detail(bound_to.instance_id)
  return (
    <Link to={to} className="zs-cut" title={text}>
      {text}
    </Link>
  )
}
