import Descriptions from 'antd/es/descriptions'
import Typography from 'antd/es/typography'
import type { ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { Address, sortedAddresses } from './InstanceAddresses.tsx'
import { sizeText } from './instanceColumns.tsx'
import { codeText } from './instanceRules.ts'
import './instance.css'

const Code = ({ text }: { readonly text: string }) => (
  <Typography.Text copyable={{ text, tooltips: false }} className="zs-code">
    {text}
  </Typography.Text>
)

/** Facts of an instance, and where it is reached. */
export function InstanceOverview({ instance }: { readonly instance: ComputeInstanceDetail }) {
  const { t } = useTranslation('computeInstance')
  const platform = useIsPlatform()
  const { names, flavor } = instance
  const named = (id: string | null): string => (id === null ? format.nothing : (names[id] ?? id))
  const told = (text: string): string => (text === '' ? format.nothing : text)
  const fact = (key: string, label: string, children: ReactNode) => ({ key, label, children })
  const addresses = sortedAddresses(instance.addresses)
  return (
    <>
      <section className="ci-part">
        <h2 className="zs-heading">{t('detail.facts')}</h2>
        <Descriptions
          size="small"
          column={{ xs: 1, sm: 1, md: 2, xl: 3 }}
          items={[
            fact('image', t('column.image'), instance.image_id === null ? t('fromVolume') : named(instance.image_id)),
            fact('flavor', t('column.flavor'), flavor === null ? format.nothing : `${flavor.name}（${sizeText(t, flavor)}）`),
            fact('zone', t('column.zone'), told(instance.zone)),
            fact('project', t('column.project'), named(instance.keystone_project_id)),
            fact('groups', t('column.groups'), told(instance.security_groups.join('、'))),
            fact('key', t('column.key'), named(instance.key_name)),
            fact('code', t('column.code'), codeText(t, instance.code) ?? format.nothing),
            ...(platform
              ? [
                  fact('host', t('column.host'), told(instance.host ?? '')),
                  fact(
                    'nova',
                    t('column.nova'),
                    <span className="zs-code">{[instance.vm_state, instance.task_state].filter((word) => word !== null).join(' / ')}</span>,
                  ),
                ]
              : []),
            fact('created', t('column.created'), format.dateTime(instance.created_at)),
            fact('launched', t('column.launched'), format.dateTime(instance.launched_at)),
            fact('updated', t('column.updated'), format.dateTime(instance.updated_at)),
            fact('id', t('column.id'), <Code text={instance.id} />),
            { ...fact('description', t('column.description'), told(instance.description)), span: 'filled' as const },
          ]}
        />
      </section>
      <section className="ci-part">
        <h2 className="zs-heading">{t('detail.addresses')}</h2>
        {addresses.length === 0 ? (
          <p>{format.nothing}</p>
        ) : (
          <ul className="zs-list">
            {addresses.map((one) => (
              <li key={`${one.network} ${one.address}`}>
                <Address one={one} /> <span className="zs-soft">{one.network}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}
