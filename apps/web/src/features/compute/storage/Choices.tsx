import Select from 'antd/es/select'
import { computeImages } from '@zhisuan/contract/compute/image'
import { computeInstances } from '@zhisuan/contract/compute/instance'
import { computeVolumeBackups, computeVolumes, computeVolumeSnapshots, computeVolumeTypes, type ComputeVolume } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import { useCloudChoices } from '../CloudTable.tsx'
import { Trouble, type Lines } from '../Trouble.tsx'
import { titleOf } from './storageRules.ts'

interface Control {
  readonly cloudId: string | null
  /** Set by the form around it. */
  readonly id?: string
  readonly value?: string | null
  readonly onChange?: (id: string) => void
}
interface Choice {
  readonly value: string
  readonly title: string
  readonly label: string
  readonly disabled?: boolean
}

function Choose({
  of,
  options,
  none,
  id,
  value,
  onChange,
  autoFocus = false,
}: Pick<Control, 'id' | 'value' | 'onChange'> & {
  readonly of: Lines & { readonly isFetching: boolean }
  readonly options: readonly Choice[]
  readonly none: string
  readonly autoFocus?: boolean
}) {
  const loading = of.isFetching && of.data?.done !== true
  return (
    <>
      <Trouble of={[of]} />
      <Select<string, Choice>
        {...(id !== undefined && { id })}
        {...(onChange !== undefined && { onChange: (next) => onChange(next) })}
        value={value ?? null}
        autoFocus={autoFocus}
        showSearch={{ optionFilterProp: 'title' }}
        loading={loading}
        notFoundContent={loading ? null : none}
        options={[...options]}
      />
    </>
  )
}

/** An instance of one project, which Nova lets have volumes. */
export function ServerChoice({ cloudId, keystoneProjectId, ...control }: Control & { readonly keystoneProjectId: string | null }) {
  const { t } = useTranslation('computeStorage')
  const list = useCloudChoices(computeInstances.list, cloudId)
  const there = (list.data?.items ?? []).filter((one) => keystoneProjectId === null || one.keystone_project_id === keystoneProjectId)
  return (
    <Choose
      {...control}
      of={list}
      autoFocus
      none={t('attach.noServer')}
      options={there.map((one) => ({ value: one.id, title: `${one.name} ${one.id}`, label: titleOf(one) }))}
    />
  )
}

/** A volume; `fits` says which may be chosen, the others are not shown. */
export function VolumeChoice({
  cloudId,
  fits,
  autoFocus = false,
  ...control
}: Control & { readonly fits: (volume: ComputeVolume) => boolean; readonly autoFocus?: boolean }) {
  const { t } = useTranslation('computeStorage')
  const list = useCloudChoices(computeVolumes.list, cloudId)
  const options = (list.data?.items ?? []).filter(fits).map((one) => ({
    value: one.id,
    title: `${one.name} ${one.id}`,
    label: `${titleOf(one)}（${format.bytes(one.size_bytes)}，${t(`status.${one.status}`)}）`,
  }))
  return <Choose {...control} of={list} autoFocus={autoFocus} none={t('keep.noVolume')} options={options} />
}

export function TypeChoice({ cloudId, except, autoFocus = false, ...control }: Control & { readonly except?: string | null; readonly autoFocus?: boolean }) {
  const { t } = useTranslation('computeStorage')
  const list = useCloudChoices(computeVolumeTypes.list, cloudId)
  const options = (list.data?.items ?? [])
    .filter(({ name }) => name !== except)
    .map(({ name, description }) => ({ value: name, title: name, label: description === '' ? name : `${name}（${description}）` }))
  return <Choose {...control} of={list} autoFocus={autoFocus} none={t('retype.none')} options={options} />
}

export type SourceKind = 'image' | 'snapshot' | 'volume' | 'backup'

/** What a volume can be made of, of one kind: those that are ready, each with the size that it needs at least. */
export function useSources(
  kind: SourceKind | 'empty',
  cloudId: string | null,
): {
  readonly sources: readonly { readonly id: string; readonly label: string; readonly sizeBytes: number; readonly keystoneProjectId: string | null }[]
  readonly list: (Lines & { readonly isFetching: boolean }) | null
} {
  const of = (one: SourceKind) => (kind === one ? cloudId : null)
  const images = useCloudChoices(computeImages.list, of('image'))
  const snapshots = useCloudChoices(computeVolumeSnapshots.list, of('snapshot'))
  const volumes = useCloudChoices(computeVolumes.list, of('volume'))
  const backups = useCloudChoices(computeVolumeBackups.list, of('backup'))
  const sized = <
    T extends { readonly id: string; readonly name: string; readonly size_bytes: number; readonly status: string; readonly keystone_project_id: string | null },
  >(
    items: readonly T[] | undefined,
    ready: readonly string[],
  ) =>
    (items ?? [])
      .filter(({ status }) => ready.includes(status))
      .map((one) => ({
        id: one.id,
        label: `${titleOf(one)}（${format.bytes(one.size_bytes)}）`,
        sizeBytes: one.size_bytes,
        keystoneProjectId: one.keystone_project_id,
      }))
  switch (kind) {
    case 'empty':
      return { sources: [], list: null }
    case 'image':
      return {
        sources: (images.data?.items ?? [])
          .filter(({ status }) => status === 'active')
          .map((one) => ({
            id: one.id,
            label: `${titleOf(one)}（${format.bytes(one.size_bytes)}）`,
            sizeBytes: Math.max(one.min_disk_bytes, one.size_bytes ?? 0),
            keystoneProjectId: one.keystone_project_id,
          })),
        list: images,
      }
    case 'snapshot':
      return { sources: sized(snapshots.data?.items, ['available']), list: snapshots }
    case 'volume':
      return { sources: sized(volumes.data?.items, ['available', 'in-use']), list: volumes }
    case 'backup':
      return { sources: sized(backups.data?.items, ['available']), list: backups }
  }
}

export function SourceChoice({ kind, cloudId, ...control }: Control & { readonly kind: SourceKind }) {
  const { t } = useTranslation('computeStorage')
  const { sources, list } = useSources(kind, cloudId)
  if (list === null) return null
  return (
    <Choose
      {...control}
      of={list}
      none={t('add.chooseNone', { what: t(`add.sources.${kind}`) })}
      options={sources.map(({ id, label }) => ({ value: id, title: `${label} ${id}`, label }))}
    />
  )
}
