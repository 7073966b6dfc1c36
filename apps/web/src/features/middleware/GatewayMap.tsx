import { serviceGateways } from '@zhisuan/contract/middleware/gateway'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { gatewayTones, healthTones } from './gatewayRules.ts'
import './middleware.css'

/** What runs through the gateways now: node, ports, and how many targets of each are up. */
export function GatewayMap() {
  const { t } = useTranslation('middleware')
  const { data } = useCall(serviceGateways.overview, {}, { silent: true, refreshMs: 5_000 })
  if (data === undefined || data.items.length === 0) return null
  return (
    <ul className="mw-map" aria-label={t('gateway.map')}>
      {data.items.map(({ id, name, status, health, node, traffic, ports }) => (
        <li key={id} className="mw-gateway">
          <div className="mw-head">
            <Link className="zs-text-link" to={paths.middleware.gateway.detail(id)}>
              {name}
            </Link>
            {status === 'active' ? (
              <StatusTag tone={healthTones[health]}>{t(`gateway.health.${health}`)}</StatusTag>
            ) : (
              <StatusTag tone={gatewayTones[status]}>{t(`gateway.status.${status}`)}</StatusTag>
            )}
          </div>
          <p className="zs-soft">
            {node.name}
            {traffic !== null && ` · ${t('traffic.now', { connections: traffic.connections, rate: traffic.connections_per_second })}`}
          </p>
          {ports.length === 0 ? (
            <p className="zs-soft">{t('port.none')}</p>
          ) : (
            <ul className="mw-ports">
              {ports.map((port) => (
                <li key={port.id} className={port.status === 'active' ? (port.up === 0 ? 'mw-bad' : port.up < port.targets ? 'mw-some' : 'mw-good') : ''}>
                  <span className="mw-port zs-number">
                    {port.protocol.toUpperCase()} {port.port}
                  </span>
                  <span>{port.name}</span>
                  <span className="zs-number">
                    {port.status === 'active' ? t('port.upOf', { up: port.up, count: port.targets }) : t(`port.status.${port.status}`)}
                  </span>
                </li>
              ))}
            </ul>
          )}
          {traffic !== null && (
            <p className="zs-soft zs-number">{t('traffic.bytes', { in: format.bytes(traffic.bytes_in), out: format.bytes(traffic.bytes_out) })}</p>
          )}
        </li>
      ))}
    </ul>
  )
}
