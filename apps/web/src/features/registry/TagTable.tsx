import Tag from 'antd/es/tag'
import { repositories, type ImageTag } from '@zhisuan/contract/ims/project'
import { lazy } from 'react'
import { registryCommands } from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { platformText } from './platformText.ts'
import { invalidatedByRepository } from './registryRules.ts'
import './registry.css'

const CommandDialog = lazy(() => import('./CommandDialog.tsx'))
const BuildHistory = lazy(() => import('./BuildHistory.tsx'))

/** Tags of a repository. */
export function TagTable({
  at,
  image,
  project,
  notOwn,
}: {
  readonly at: { readonly id: string; readonly pid: string; readonly name: string }
  /** As a pull names it, without a tag. */
  readonly image: string
  readonly project: string
  /** Why nothing of it may be changed; null where it may. */
  readonly notOwn: string | null
}) {
  const { t } = useTranslation('mirror')
  const remove = useChange(repositories.deleteTag, { invalidates: invalidatedByRepository, silent: true })
  return (
    <ResourceTable
      name="tags"
      call={repositories.tags}
      input={{ params: at }}
      rowKey="name"
      columns={[
        col.name<ImageTag>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          note: ({ immutable }) => (immutable ? <Tag>{t('tag.immutable')}</Tag> : ''),
        }),
        col.text<ImageTag>('kind', t('column.kind'), ({ kind }) => t(`tag.kind.${kind}`), {
          width: 120,
          note: ({ chart }) => (chart === null ? '' : t('tag.chart', { version: chart.version, app: chart.app_version ?? format.nothing })),
        }),
        col.tags<ImageTag>('platforms', t('column.platforms'), ({ platforms }) => platforms.map(platformText), { width: 160 }),
        col.bytes<ImageTag>('size_bytes', t('column.size'), ({ size_bytes }) => size_bytes, { width: 100, sort: true }),
        col.custom<ImageTag>('digest', t('column.digest'), ({ digest }) => <CopyCode text={digest} shown={digest.slice(0, 19)} />, { width: 200 }),
        col.text<ImageTag>('by', t('column.pushedBy'), ({ pushed_by }) => pushed_by, { width: 110 }),
        col.date<ImageTag>('pushed_at', t('column.pushed'), ({ pushed_at }) => pushed_at, { sort: true }),
        col.date<ImageTag>('pulled_at', t('column.pulled'), ({ pulled_at }) => pulled_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('tag.keyword'))]}
      rowActions={(tag) => [
        {
          key: 'pull',
          call: registryCommands.create,
          label: t('tag.pull'),
          dialog: (close) => <CommandDialog registry={{ id: at.id }} project={project} repository={at.name} tag={tag.name} onClose={close} />,
        },
        ...(tag.kind === 'image'
          ? [
              {
                key: 'history',
                call: repositories.buildHistory,
                label: t('tag.history'),
                dialog: (close: () => void) => <BuildHistory at={at} image={image} tag={tag} onClose={close} />,
              },
            ]
          : []),
        {
          key: 'delete',
          call: repositories.deleteTag,
          label: t('action.delete'),
          danger: true,
          disabledReason: notOwn ?? (tag.immutable ? t('tag.immutableNote') : null),
          confirm: { title: t('tag.deleteTitle', { name: tag.name }), body: t('tag.deleteBody') },
          doneText: t('deleted', { name: tag.name }),
          run: () => remove.mutateAsync({ params: { ...at, tag: tag.name } }),
        },
      ]}
      empty={{ title: t('tag.empty'), note: t('tag.emptyNote') }}
    />
  )
}
