import Descriptions from 'antd/es/descriptions'
import Typography from 'antd/es/typography'
import type { containers } from '@zhisuan/contract/cis/container'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import { ContainerStats } from './ContainerStats.tsx'
import { portText } from '../../kit/containerText.ts'
import { Health } from './ContainerState.tsx'

/** Facts of a container, and what it uses now. */
export function ContainerOverview({ container }: { readonly container: ResponseOf<(typeof containers)['get']> }) {
  const { t } = useTranslation('container')
  const { deployment, service, edge, ports } = container
  const fact = (key: string, label: string, children: ReactNode) => ({ key, label, children })
  return (
    <div className="zs-parts">
      <section>
        <h2 className="zs-heading">{t('detail.facts')}</h2>
        <Descriptions
          size="small"
          column={{ xs: 1, sm: 1, md: 2, xl: 3 }}
          items={[
            fact('image', t('column.image'), <Code text={container.image} />),
            fact('node', t('column.node'), <Link to={paths.container.node.detail(edge.id)}>{edge.name}</Link>),
            ...(deployment === null
              ? []
              : [
                  fact(
                    'deployment',
                    t('column.deployment'),
                    <Link to={paths.container.deployment.containers(deployment.id, deployment.name)}>{deployment.name}</Link>,
                  ),
                ]),
            ...(service === null
              ? []
              : [fact('service', t('column.service'), <Link to={paths.container.application.containers(service.id, service.name)}>{service.name}</Link>)]),
            fact('ports', t('column.ports'), ports.length === 0 ? format.nothing : <span className="zs-code">{ports.map(portText).join('、')}</span>),
            fact('health', t('column.health'), <Health of={container.health} />),
            fact('started', t('column.started'), format.dateTime(container.started_at)),
            fact('restarts', t('column.restarts'), format.number(container.restart_count)),
            fact('exit', t('column.exitCode'), format.number(container.exit_code)),
            fact(
              'docker',
              t('column.dockerId'),
              container.container_id === null ? format.nothing : <Code text={container.container_id} shown={container.container_id.slice(0, 12)} />,
            ),
            fact('creator', t('column.creator'), container.created_by),
            fact('created', t('column.created'), format.dateTime(container.created_at)),
            fact('id', t('column.id'), <Code text={container.id} />),
          ]}
        />
      </section>
      <section>
        <h2 className="zs-heading">{t('stats.title')}</h2>
        {container.status === 'running' ? (
          <ContainerStats key={container.container_id ?? ''} container={container} memoryLimitBytes={container.spec?.memory_limit_bytes ?? null} />
        ) : (
          <p className="zs-soft">{t('stats.off')}</p>
        )}
      </section>
    </div>
  )
}

const Code = ({ text, shown = text }: { readonly text: string; readonly shown?: string }) => (
  <Typography.Text copyable={{ text, tooltips: false }} className="zs-code">
    {shown}
  </Typography.Text>
)
