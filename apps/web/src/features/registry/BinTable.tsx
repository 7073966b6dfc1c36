import { tagBin, type BinnedTag, type RegistryProject } from '@zhisuan/contract/ims/project'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { invalidatedByRepository } from './registryRules.ts'

/** What was pushed without a tag is known by its digest. */
const imageOf = ({ repository, name, digest }: BinnedTag): string => (name === digest ? `${repository}@${digest.slice(0, 19)}` : `${repository}:${name}`)

/** Tags of a project that were deleted, until they go for good. */
export function BinTable({ project }: { readonly project: RegistryProject }) {
  const { t } = useTranslation('mirror')
  const restore = useChange(tagBin.restore, { invalidates: invalidatedByRepository, silent: true })
  const remove = useChange(tagBin.delete, { invalidates: invalidatedByRepository, silent: true })
  const at = { id: project.registry_id, pid: project.id }
  return (
    <ResourceTable
      name="bin"
      call={tagBin.list}
      input={{ params: at }}
      columns={[
        col.name<BinnedTag>('name', t('column.name'), imageOf, { sort: true }),
        col.code<BinnedTag>('digest', t('column.digest'), ({ digest }) => digest.slice(0, 19), { width: 180 }),
        col.bytes<BinnedTag>('size', t('column.size'), ({ size_bytes }) => size_bytes, { width: 110 }),
        col.text<BinnedTag>('by', t('column.deletedBy'), ({ deleted_by }) => deleted_by, { width: 120 }),
        col.date<BinnedTag>('deleted_at', t('column.deletedAt'), ({ deleted_at }) => deleted_at, { sort: true }),
        col.date<BinnedTag>('ends_at', t('column.ends'), ({ ends_at }) => ends_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('bin.keyword'))]}
      rowActions={(tag) => [
        {
          key: 'restore',
          call: tagBin.restore,
          label: t('bin.restore'),
          doneText: t('bin.restored', { name: imageOf(tag) }),
          run: () => restore.mutateAsync({ params: { ...at, bin_id: tag.id } }),
        },
        {
          key: 'delete',
          call: tagBin.delete,
          label: t('bin.delete'),
          danger: true,
          confirm: { title: t('bin.deleteTitle', { name: imageOf(tag) }), body: t('bin.deleteBody') },
          doneText: t('bin.deleted', { name: imageOf(tag) }),
          run: () => remove.mutateAsync({ params: { ...at, bin_id: tag.id } }),
        },
      ]}
      empty={{ title: t('bin.empty'), note: project.bin_days === 0 ? t('bin.emptyOff') : t('bin.emptyNote', { days: project.bin_days }) }}
    />
  )
}
