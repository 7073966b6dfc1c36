import Table from 'antd/es/table'
import type { NodeFacts, NodeMetrics } from '@zhisuan/contract/agent/node'
import type { EdgeDetail } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { col, type Column } from '../../kit/columns.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import './edge.css'

/** A few parts of one machine: all at once, in the order in which it names them. */
function Parts<Part extends object>({
  title,
  parts,
  rowKey,
  columns,
  none,
}: {
  readonly title: string
  readonly parts: readonly Part[]
  readonly rowKey: (part: Part) => string
  readonly columns: readonly Column<Part>[]
  readonly none: string
}) {
  return (
    <section className="ed-parts">
      <h2 className="zs-heading">{title}</h2>
      {parts.length === 0 ? (
        <EmptyState title={none} />
      ) : (
        <Table<Part> size="small" pagination={false} dataSource={parts} rowKey={rowKey} columns={[...columns]} />
      )}
    </section>
  )
}

/** What a node is made of, as its agent told last. */
export function NodeParts({ edge: { facts, metrics } }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  if (facts === null) return <EmptyState title={t('facts.none')}>{t('facts.noneNote')}</EmptyState>
  return (
    <>
      <Gpus gpus={facts.gpus} />
      <Disks disks={facts.disks} used={metrics?.disks ?? []} />
      <Nics nics={facts.nics} />
    </>
  )
}

type Gpu = NodeFacts['gpus'][number]
type Disk = NodeFacts['disks'][number]
type Nic = NodeFacts['nics'][number]

function Gpus({ gpus }: { readonly gpus: readonly Gpu[] }) {
  const { t } = useTranslation('edge')
  return (
    <Parts<Gpu>
      title={t('gpu.title')}
      parts={gpus}
      rowKey={(gpu) => gpu.uuid}
      none={t('gpu.none')}
      columns={[
        col.number('index', t('gpu.index'), (gpu) => gpu.index, { width: 70 }),
        col.text('model', t('gpu.model'), (gpu) => gpu.model, { width: 240 }),
        col.bytes('memory', t('gpu.memory'), (gpu) => gpu.memory_bytes, { width: 120 }),
        col.text('driver', t('gpu.driver'), (gpu) => gpu.driver, { width: 140 }),
        col.code('uuid', 'UUID', (gpu) => gpu.uuid, { width: 320 }),
      ]}
    />
  )
}

function Disks({ disks, used }: { readonly disks: readonly Disk[]; readonly used: NodeMetrics['disks'] }) {
  const { t } = useTranslation('edge')
  const usedOf = (disk: Disk): number | null => used.find(({ mount }) => mount === disk.mount)?.used_bytes ?? null
  const shareOf = (disk: Disk): number | null => {
    const bytes = usedOf(disk)
    return bytes === null || disk.total_bytes === 0 ? null : bytes / disk.total_bytes
  }
  return (
    <Parts<Disk>
      title={t('disk.title')}
      parts={disks}
      rowKey={(disk) => disk.mount}
      none={t('disk.none')}
      columns={[
        col.code('mount', t('disk.mount'), (disk) => disk.mount, { width: 240 }),
        col.code('device', t('disk.device'), (disk) => disk.device, { width: 200 }),
        col.text('fileSystem', t('disk.fileSystem'), (disk) => disk.file_system, { width: 100 }),
        col.bytes('total', t('disk.total'), (disk) => disk.total_bytes, { width: 120 }),
        col.bytes('used', t('disk.used'), usedOf, { width: 120 }),
        col.percent('share', t('disk.share'), shareOf, { width: 100 }),
      ]}
    />
  )
}

function Nics({ nics }: { readonly nics: readonly Nic[] }) {
  const { t } = useTranslation('edge')
  const speed = (mbps: number | null): string =>
    mbps === null || mbps <= 0
      ? format.nothing
      : mbps >= 1000
        ? t('nic.gbps', { speed: format.number(mbps / 1000) })
        : t('nic.mbps', { speed: format.number(mbps) })
  return (
    <Parts<Nic>
      title={t('nic.title')}
      parts={nics}
      rowKey={(nic) => nic.name}
      none={t('nic.none')}
      columns={[
        col.code('name', t('nic.name'), (nic) => nic.name, { width: 160 }),
        col.code('mac', t('nic.mac'), (nic) => nic.mac, { width: 170 }),
        col.custom(
          'addresses',
          t('nic.addresses'),
          (nic) => (nic.addresses.length === 0 ? format.nothing : <div className="zs-code ed-lines">{nic.addresses.join('\n')}</div>),
          { width: 320 },
        ),
        col.text('speed', t('nic.speed'), (nic) => speed(nic.speed_mbps), { width: 110 }),
      ]}
    />
  )
}
