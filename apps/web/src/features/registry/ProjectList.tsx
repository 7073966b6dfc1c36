import Button from 'antd/es/button'
import Select from 'antd/es/select'
import { projectVisibilities, registryProjects, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, type RegistryBasic } from '@zhisuan/contract/ims/registry'
import { lazy, type ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { useDialog } from '../../kit/dialogs.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { useIsPlatform, useMayCall } from '../../session/user.ts'
import { registryOptions } from './registryRules.ts'
import { useProjectActions } from './useProjectActions.tsx'
import './registry.css'

const ProjectDialog = lazy(() => import('./ProjectDialog.tsx'))
const CommandDialog = lazy(() => import('./CommandDialog.tsx'))

/** Projects of one registry, which is chosen first: by its address, its region and its name. */
export default function ProjectList() {
  const { t } = useTranslation('mirror')
  const [search, setSearch] = useSearchParams()
  const mayRegister = useMayCall(registries.create)
  const { data, error, refetch } = useCall(registries.regions, {}, { silent: true })
  if (data === undefined)
    return error === null ? (
      <PagePlaceholder />
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  const all = data.items.flatMap((one) => one.registries)
  const registry = all.find(({ id }) => id === search.get('registry')) ?? all[0]
  if (registry === undefined)
    return (
      <div className="zs-card">
        <EmptyState
          title={t('project.noRegistry')}
          action={
            mayRegister && (
              <Link to={paths.registry.service()} className="zs-button">
                {t('project.toRegistries')}
              </Link>
            )
          }
        >
          {t(mayRegister ? 'project.noRegistryAdmin' : 'project.noRegistryNote')}
        </EmptyState>
      </div>
    )
  return (
    <ProjectTable
      key={registry.id}
      registry={registry}
      chooser={
        <Select
          className="rg-registry"
          aria-label={t('project.registry')}
          showSearch={{ optionFilterProp: 'label' }}
          popupMatchSelectWidth={false}
          value={registry.id}
          options={registryOptions(data.items, t('registry.everywhere'))}
          // Page and filters are of the one before.
          onChange={(id: string) => setSearch({ registry: id })}
        />
      }
    />
  )
}

function ProjectTable({ registry, chooser }: { readonly registry: RegistryBasic; readonly chooser: ReactNode }) {
  const { t } = useTranslation('mirror')
  const platform = useIsPlatform()
  const open = useDialog()
  const { actionsOf } = useProjectActions(registry)
  return (
    <ResourceTable
      call={registryProjects.list}
      input={{ params: { id: registry.id } }}
      columns={[
        col.name<RegistryProject>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          to: ({ id }) => paths.registry.repositories(registry.id, id),
          note: ({ description }) => description,
        }),
        col.status<RegistryProject>('visibility', t('column.visibility'), ({ visibility }) => ({
          tone: visibility === 'public' ? 'good' : 'rest',
          text: t(`visibility.${visibility}`),
        })),
        col.custom<RegistryProject>(
          'used_bytes',
          t('column.used'),
          ({ used_bytes: used, quota_bytes: quota }) => (
            <span className="zs-number">
              {quota === null ? format.bytes(used) : t('project.usedOf', { used: format.bytes(used), quota: format.bytes(quota) })}
            </span>
          ),
          { width: 170, sort: true },
        ),
        col.number<RegistryProject>('repositories', t('column.repositories'), (one) => one.repository_count, { width: 90 }),
        col.number<RegistryProject>('tags', t('column.tags'), (one) => one.tag_count, { width: 90 }),
        col.organisation<RegistryProject>(t('column.organisation'), { when: platform }),
        col.text<RegistryProject>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
        col.date<RegistryProject>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[
        filter.oneOf('visibility', t('column.visibility'), projectVisibilities, (one) => t(`visibility.${one}`)),
        ...(platform ? [] : [filter.oneOf('everybody', t('project.whose'), ['true'], () => t('project.everybody'))]),
        filter.keyword(t('project.keyword')),
      ]}
      rowActions={actionsOf}
      toolbar={
        <>
          {chooser}
          <Button onClick={() => open((close) => <CommandDialog registry={registry} onClose={close} />)}>{t('command.title')}</Button>
        </>
      }
      create={{
        call: registryProjects.create,
        label: t('project.create'),
        dialog: (close) => <ProjectDialog registry={registry} project={null} onClose={close} />,
      }}
      empty={{ title: t('project.empty'), note: t('project.emptyNote') }}
    />
  )
}
