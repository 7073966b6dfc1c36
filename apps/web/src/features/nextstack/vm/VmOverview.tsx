import Descriptions from 'antd/es/descriptions'
import { prepaids } from '@zhisuan/contract/bill/order'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import Typography from 'antd/es/typography'
import { useCall } from '../../../api/hooks.ts'
import * as format from '../../../kit/format.ts'
import { vmItems } from '../../../kit/price/items.ts'
import { Price } from '../../../kit/price/Price.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useCloud } from '../../../session/cloud.ts'
import { sshCommand, usableAddresses } from './vmAddresses.ts'
import { Address, NoAddress } from './VmAddresses.tsx'
import { useVmLoad, VmLoad } from './VmLoad.tsx'
import '../nextstack.css'

/** Facts of an instance, and how to get into it. */
export function VmOverview({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation(['nextstack', 'price'])
  const load = useVmLoad(vm)
  const platform = useIsPlatform()
  const cloud = useCloud(vm.cloud_id)
  const addresses = usableAddresses(vm)
  const used = load.data?.items.at(-1)?.disk_bytes ?? null
  const fact = (key: string, label: string, children: React.ReactNode) => ({ key, label, children })
  return (
    <div className="zs-parts">
      <VmLoad vm={vm} load={load} />
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
            fact(
              'disk',
              t('field.disk'),
              used === null ? format.bytes(vm.disk_bytes) : t('detail.diskUsed', { used: format.bytes(used), size: format.bytes(vm.disk_bytes) }),
            ),
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
      {!platform && <Paying vm={vm} />}
      <section>
        <h2 className="zs-heading">{t('detail.addresses')}</h2>
        {addresses.length === 0 ? (
          <NoAddress vm={vm} />
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

/** How it is paid, what that comes to, and until when. */
function Paying({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation(['nextstack', 'price'])
  const { data } = useCall(prepaids.get, { params: { id: vm.id } }, { silent: true, refreshMs: 30_000 })
  const mode = data === undefined ? undefined : data.ends_at === null ? 'hour' : (data.period ?? 'prepaid')
  return (
    <section>
      <h2 className="zs-heading">{t('price:title')}</h2>
      <Descriptions
        size="small"
        column={{ xs: 1, sm: 1, md: 2, xl: 3 }}
        items={[
          {
            key: 'mode',
            label: t('price:mode.label'),
            children: mode === undefined ? format.nothing : mode === 'prepaid' ? t('detail.prepaid') : t(`price:mode.${mode}`),
          },
          ...(data === undefined || data.ends_at === null
            ? []
            : [
                { key: 'ends', label: t('detail.endsAt'), children: format.dateTime(data.ends_at) },
                {
                  key: 'renews',
                  label: t('detail.autoRenew'),
                  children: data.renews_at === null ? t('detail.renewOff') : t('detail.renewAt', { at: format.dateTime(data.renews_at) }),
                },
              ]),
          { key: 'orders', label: t('detail.orders'), children: <Link to={paths.order.list()}>{t('detail.toOrders')}</Link> },
          { key: 'price', label: t('detail.price'), children: <Price items={vmItems(vm)} period="hour" bpId={vm.bp_id} />, span: 'filled' as const },
        ]}
      />
    </section>
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
