import Table from 'antd/es/table'
import type { HostDetail } from '@zhisuan/contract/nextstack/host'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { col, type Column } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'

type Gpu = HostDetail['gpu_cards'][number]
type Disk = HostDetail['disks'][number]
type Nic = HostDetail['nics'][number]

/** A few parts of one machine: all at once, in the order in which it names them. */
function Parts<Part extends object>({
  parts,
  rowKey,
  columns,
  none,
}: {
  readonly parts: readonly Part[]
  readonly rowKey: (part: Part) => string
  readonly columns: readonly Column<Part>[]
  readonly none: string
}) {
  if (parts.length === 0) return <EmptyState title={none} />
  return <Table<Part> size="small" pagination={false} dataSource={parts} rowKey={rowKey} columns={[...columns]} />
}

/** The cards that can be given to instances, and who has each. */
export function HostGpus({ host }: { readonly host: HostDetail }) {
  const { t } = useTranslation('hardware')
  return (
    <Parts<Gpu>
      parts={host.gpu_cards}
      rowKey={(card) => card.pci_address}
      none={t('gpu.none')}
      columns={[
        col.code('pci', t('gpu.pci'), (card) => card.pci_address, { width: 150 }),
        col.text('model', t('gpu.model'), (card) => card.model, { width: 280 }),
        col.text('driver', t('gpu.driver'), (card) => card.driver, { width: 120 }),
        col.custom('vm', t('gpu.holder'), (card) => <Holder card={card} />, { width: 240 }),
      ]}
    />
  )
}

function Holder({ card: { vm, taken_by, present } }: { readonly card: Gpu }) {
  const { t } = useTranslation('hardware')
  if (vm !== null) {
    return (
      <>
        <Link to={paths.nextstack.vm.detail(vm.id)}>{vm.name}</Link>
        {!present && <div className="zs-name-note zs-bad">{t('gpu.absent')}</div>}
      </>
    )
  }
  return taken_by === null ? <StatusTag tone="good">{t('gpu.free')}</StatusTag> : t('gpu.foreign', { name: taken_by })
}

export function HostDisks({ host }: { readonly host: HostDetail }) {
  const { t } = useTranslation('hardware')
  return (
    <Parts<Disk>
      parts={host.disks}
      rowKey={(disk) => disk.id}
      none={t('disk.none')}
      columns={[
        col.code('id', t('disk.id'), (disk) => disk.id, { width: 160 }),
        col.text('model', t('disk.model'), (disk) => disk.model, { width: 280 }),
        col.text('kind', t('disk.kind'), (disk) => disk.kind, { width: 120 }),
        col.bytes('size', t('disk.size'), (disk) => disk.size_bytes, { width: 120 }),
        col.text('removable', t('disk.removable'), (disk) => t(disk.removable ? 'disk.yes' : 'disk.no'), { width: 100 }),
      ]}
    />
  )
}

export function HostNics({ host }: { readonly host: HostDetail }) {
  const { t } = useTranslation('hardware')
  const speed = (mbps: number | null): string =>
    mbps === null ? format.nothing : mbps >= 1000 ? t('nic.gbps', { speed: format.number(mbps / 1000) }) : t('nic.mbps', { speed: format.number(mbps) })
  return (
    <Parts<Nic>
      parts={host.nics}
      rowKey={(nic) => `${nic.id} ${nic.mac}`}
      none={t('nic.none')}
      columns={[
        col.code('id', t('nic.id'), (nic) => nic.id, { width: 140 }),
        col.code('mac', t('nic.mac'), (nic) => nic.mac, { width: 170 }),
        col.text('product', t('nic.product'), (nic) => nic.product, { width: 260 }),
        col.text('driver', t('nic.driver'), (nic) => nic.driver, { width: 120 }),
        col.custom('link', t('nic.link'), (nic) => <StatusTag tone={nic.link ? 'good' : 'rest'}>{t(nic.link ? 'nic.up' : 'nic.down')}</StatusTag>, {
          width: 100,
        }),
        col.text('speed', t('nic.speed'), (nic) => speed(nic.speed_mbps), { width: 110 }),
      ]}
    />
  )
}
