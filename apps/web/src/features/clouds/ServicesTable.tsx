import Table from 'antd/es/table'
import type { CloudServiceState } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { serviceTone } from './cloudRules.ts'
import './clouds.css'

/** How each service of an OpenStack answered: what it is, where, and what went wrong. */
export function ServicesTable({ services }: { readonly services: readonly CloudServiceState[] }) {
  const { t } = useTranslation('clouds')
  return (
    <Table<CloudServiceState>
      className="cl-services"
      size="small"
      rowKey="service"
      pagination={false}
      dataSource={[...services]}
      columns={[
        {
          key: 'service',
          title: t('services.service'),
          render: (_, one) => (
            <>
              {t(`services.name.${one.service}`)} {!one.required && <span className="zs-name-note">{t('services.optional')}</span>}
              {one.address !== null && <div className="zs-code cl-service-address">{one.address}</div>}
              {one.state === 'missing' && (
                <div className="zs-name-note">
                  {t(one.required ? 'services.missing' : `services.missingOptional.${one.service === 'volume' ? 'volume' : 'placement'}`)}
                </div>
              )}
              {one.problem !== null && (
                <div className="cl-service-problem">
                  {one.problem.message}
                  <div className="zs-name-note">{one.problem.words}</div>
                </div>
              )}
            </>
          ),
        },
        {
          key: 'state',
          title: t('services.state'),
          width: 84,
          render: (_, one) => <StatusTag tone={serviceTone(one)}>{t(`services.states.${one.state}`)}</StatusTag>,
        },
        { key: 'version', title: t('services.version'), width: 72, align: 'right', render: (_, one) => one.version ?? format.nothing },
        {
          key: 'took',
          title: t('services.took'),
          width: 92,
          align: 'right',
          responsive: ['sm'],
          render: (_, one) => <span className="zs-number">{format.number(one.took_ms)} ms</span>,
        },
      ]}
    />
  )
}
