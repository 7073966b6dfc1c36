import { registries, registryCan, registryEngines, registryStatuses, type Registry } from '@zhisuan/contract/ims/registry'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../paths.ts'
import { healthTones, invalidatedByProject, invalidatedByRegistry, registryTones } from './registryRules.ts'

const RegistryDialog = lazy(() => import('./RegistryDialog.tsx'))
const AccountDialog = lazy(() => import('./AccountDialog.tsx'))
const ProgramLog = lazy(() => import('../../kit/ProgramLog.tsx'))
const RegistrySetup = lazy(() => import('./RegistrySetup.tsx'))

/** The registries that the platform manages: how each is, what is in it, and when that was last compared. */
export default function RegistryList() {
  const { t } = useTranslation('mirror')
  const actionsOf = useRegistryActions()
  return (
    <ResourceTable
      call={registries.list}
      columns={[
        col.name<Registry>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          to: ({ id }) => withQuery(paths.registry.project(), { registry: id }),
          note: ({ description }) => description,
        }),
        col.code<Registry>('address', t('column.address'), ({ address }) => address, { width: 190 }),
        col.text<Registry>('node', t('column.node'), ({ node }) => node?.name ?? t('registry.outside'), { width: 110 }),
        col.text<Registry>('region', t('column.region'), ({ region }) => region?.name ?? t('registry.everywhere'), { width: 110 }),
        col.status<Registry>(
          'status',
          t('column.status'),
          ({ status, error, collecting_until }) =>
            collecting_until !== null
              ? { tone: 'busy', text: t('registry.collecting'), note: t('registry.collectingNote') }
              : { tone: registryTones[status], text: t(`registry.status.${status}`), note: error },
          {
            width: 100,
          },
        ),
        col.status<Registry>(
          'health',
          t('column.health'),
          ({ health, health_message }) => ({ tone: healthTones[health], text: t(`registry.health.${health}`), note: health_message }),
          { width: 150 },
        ),
        col.number<Registry>('projects', t('column.projects'), ({ project_count }) => project_count, { width: 80 }),
        col.number<Registry>('tags', t('column.tags'), ({ tag_count }) => tag_count, { width: 80 }),
        col.bytes<Registry>('used_bytes', t('column.used'), ({ used_bytes }) => used_bytes, { width: 100, sort: true }),
        col.bytes<Registry>('collectable', t('column.collectable'), ({ collectable_bytes }) => collectable_bytes, { width: 100, off: true }),
        col.custom<Registry>(
          'compared',
          t('column.compared'),
          ({ reconciled_at, reconcile_error }) => (
            <>
              <span className="zs-number">{format.dateTime(reconciled_at)}</span>
              {reconcile_error !== null && <div className="zs-name-note zs-bad">{t('registry.comparedFailed', { reason: reconcile_error })}</div>}
            </>
          ),
          { width: 170 },
        ),
        col.text<Registry>('engine', t('column.engine'), ({ engine, version }) => [t(`registry.engine.${engine}`), version ?? ''].join(' ').trim(), {
          off: true,
        }),
        col.date<Registry>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
      ]}
      passing={({ status, collecting_until }) => collecting_until !== null || status === 'installing' || status === 'changing' || status === 'removing'}
      filters={[
        filter.oneOf('status', t('column.status'), registryStatuses, (one) => t(`registry.status.${one}`)),
        filter.oneOf('engine', t('column.engine'), registryEngines, (one) => t(`registry.engine.${one}`)),
        filter.keyword(t('registry.keyword')),
      ]}
      rowActions={actionsOf}
      create={{ call: registries.create, label: t('registry.create'), dialog: (close) => <RegistryDialog registry={null} onClose={close} /> }}
      empty={{ title: t('registry.empty'), note: t('registry.emptyNote') }}
    />
  )
}

/** What an administrator can do to a registry. */
function useRegistryActions(): (registry: Registry) => readonly Action[] {
  const { t } = useTranslation('mirror')
  const act = useChange(registries.action, { invalidates: invalidatedByRegistry, silent: true })
  const collect = useChange(registries.collect, { invalidates: invalidatedByRegistry, silent: true })
  const remove = useChange(registries.delete, { invalidates: [...invalidatedByRegistry, ...invalidatedByProject], silent: true })
  return (registry) => {
    const { id, name, status, project_count: projects, tag_count: tags } = registry
    const whyNot = (action: keyof typeof registryCan): string | null => allowed(registryCan, action, status, t(`registry.status.${status}`))
    const run = (action: 'active' | 'deactive' | 'reconcile') => () => act.mutateAsync({ params: { id }, query: { action } })
    return [
      {
        key: 'reconcile',
        call: registries.action,
        label: t('registry.reconcile'),
        disabledReason: whyNot('reconcile'),
        doneText: t('registry.reconciled', { name }),
        run: run('reconcile'),
      },
      {
        key: 'edit',
        call: registries.update,
        label: t('registry.edit'),
        disabledReason: whyNot('update'),
        dialog: (close) => <RegistryDialog registry={registry} onClose={close} />,
      },
      {
        key: 'account',
        call: registries.password,
        label: t('registry.account'),
        disabledReason: registry.username === null ? t('registry.accountNone') : whyNot('update'),
        dialog: (close) => <AccountDialog registry={registry} onClose={close} />,
      },
      ...(registry.origin === 'kept'
        ? [
            {
              key: 'collect',
              call: registries.collect,
              label: t('registry.collect'),
              disabledReason: whyNot('collect'),
              confirm: {
                title: t('registry.collectTitle', { name }),
                body: t('registry.collectBody', { size: format.bytes(registry.collectable_bytes) }),
              },
              doneText: t('registry.collectBegun', { name }),
              run: () => collect.mutateAsync({ params: { id } }),
            },
            {
              key: 'log',
              call: registries.log,
              label: t('registry.log'),
              dialog: (close: () => void) => <ProgramLog call={registries.log} id={id} name={name} onClose={close} />,
            },
          ]
        : []),
      { key: 'setup', call: null, label: t('registry.setup'), dialog: (close) => <RegistrySetup registry={registry} onClose={close} /> },
      status === 'deactive'
        ? { key: 'activate', call: registries.action, label: t('registry.activate'), doneText: t('registry.activated', { name }), run: run('active') }
        : {
            key: 'deactivate',
            call: registries.action,
            label: t('registry.deactivate'),
            danger: true,
            disabledReason: whyNot('deactivate'),
            confirm: { title: t('registry.deactivateTitle', { name }), body: t('registry.deactivateBody') },
            doneText: t('registry.deactivated', { name }),
            run: run('deactive'),
          },
      {
        key: 'delete',
        call: registries.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNot('delete'),
        confirm: {
          title: t('registry.deleteTitle', { name }),
          body: t(`registry.${registry.origin === 'kept' ? 'deleteKept' : 'delete'}${projects === 0 ? 'Empty' : 'Body'}`, {
            projects,
            tags,
            size: format.bytes(registry.used_bytes),
            node: registry.node?.name ?? '',
          }),
          ...(projects > 0 && { typeToConfirm: name }),
        },
        doneText: t('deleted', { name }),
        run: () => remove.mutateAsync({ params: { id }, query: { force: projects > 0 ? 'true' : 'false' } }),
      },
    ]
  }
}
