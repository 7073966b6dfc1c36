import Descriptions from 'antd/es/descriptions'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import Typography from 'antd/es/typography'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useCloud } from '../../../session/cloud.ts'
import { sshCommand, usableAddresses } from './vmAddresses.ts'
import { Address } from './VmAddresses.tsx'
import '../nextstack.css'

/** Facts of an instance, and how to get into it. */
export function VmOverview({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  const platform = useIsPlatform()
  const cloud = useCloud(vm.cloud_id)
  const addresses = usableAddresses(vm)
  const fact = (key: string, label: string, children: React.ReactNode) => ({ key, label, children })
  return (
    <div className="zs-parts">
      <section>
        <h2 className="zs-heading">{t('detail.facts')}</h2>
        <Descriptions
          size="small"
          column={{ xs: 1, sm: 1, md: 2, xl: 3 }}
          items={[
            fact('type', t('field.type'), t(`type.${vm.type}`)),
            fact('cloud', t('field.cloud'), cloud?.name ?? format.nothing),
            fact('image', t('field.image'), vm.image.name),
            fact('flavor', t('field.flavor'), vm.flavor.name),
            fact('cpu', t('add.flavorColumn.cpu'), t('cores', { count: vm.cpu_cores })),
            fact('memory', t('add.flavorColumn.memory'), format.bytes(vm.memory_bytes)),
            ...(vm.gpus.length === 0 ? [] : [fact('gpus', t('field.gpus'), vm.gpus.map((gpu) => t('add.flavorGpu', gpu)).join('、'))]),
            fact('disk', t('field.disk'), format.bytes(vm.disk_bytes)),
            fact('network', t('field.network'), vm.vpc === null ? vm.network : <Link to={paths.nextstack.vpc.detail(vm.vpc.id)}>{vm.vpc.name}</Link>),
            ...(vm.vpc === null
              ? []
              : [
                  fact('groups', t('field.groups'), <Groups vm={vm} />),
                  fact('eip', t('field.eip'), vm.eip === null ? format.nothing : <Code text={vm.eip.address} />),
                ]),
            fact('node', t('column.node'), vm.node ?? format.nothing),
            fact('creator', t('column.creator'), vm.created_by),
            ...(platform ? [fact('bp', t('column.organisation'), vm.bp_name ?? format.nothing)] : []),
            fact('created', t('column.created'), format.dateTime(vm.created_at)),
            fact('updated', t('detail.updated'), format.dateTime(vm.updated_at)),
            fact('id', t('column.id'), <Code text={vm.id} />),
            fact('fingerprint', t('detail.fingerprint'), <Code text={vm.image.fingerprint} shown={vm.image.fingerprint.slice(0, 12)} />),
            { ...fact('description', t('field.description'), vm.description === '' ? format.nothing : vm.description), span: 'filled' as const },
          ]}
        />
      </section>
      <section>
        <h2 className="zs-heading">{t('detail.addresses')}</h2>
        {addresses.length === 0 ? (
          <p className="zs-soft">{t('noAddress')}</p>
        ) : (
          <ul className="zs-list">
            {addresses.map(({ family, address }) => (
              <li key={address}>
                <span className="zs-soft ns-family">{t('detail.family', { family })}</span> <Address address={address} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <section>
        <h2 className="zs-heading">{t('detail.connect')}</h2>
        {vm.status !== 'running' ? (
          <p className="zs-soft">{t('detail.connectStopped')}</p>
        ) : (
          <>
            {addresses[0] === undefined ? (
              <p className="zs-soft">{t('detail.connectNone')}</p>
            ) : (
              <>
                <p>{t('detail.connectSsh')}</p>
                <Typography.Paragraph code copyable={{ tooltips: false }}>
                  {sshCommand(addresses[0].address)}
                </Typography.Paragraph>
              </>
            )}
            <p>
              {t('detail.connectTerminal')}{' '}
              <Link to="?tab=terminal" className="zs-text-link">
                {t('detail.openTerminal')}
              </Link>
            </p>
          </>
        )}
      </section>
    </div>
  )
}

function Groups({ vm }: { readonly vm: Vm }) {
  if (vm.security_groups.length === 0) return format.nothing
  return vm.security_groups.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && '、'}
      <Link to={paths.nextstack.securityGroup.detail(id)}>{name}</Link>
    </span>
  ))
}

const Code = ({ text, shown = text }: { readonly text: string; readonly shown?: string }) => (
  <Typography.Text copyable={{ text, tooltips: false }} className="zs-code">
    {shown}
  </Typography.Text>
)
