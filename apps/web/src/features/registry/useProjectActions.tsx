import { registryProjects, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registryCommands } from '@zhisuan/contract/ims/registry'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import * as format from '../../kit/format.ts'
import { useCurrentUser, useIsPlatform } from '../../session/user.ts'
import { invalidatedByProject, isOwn } from './registryRules.ts'

const ProjectDialog = lazy(() => import('./ProjectDialog.tsx'))
const CommandDialog = lazy(() => import('./CommandDialog.tsx'))

/** What can be done to a project of a registry. */
export function useProjectActions(
  registry: { readonly id: string },
  then: { readonly onDeleted?: () => void } = {},
): { readonly actionsOf: (project: RegistryProject) => readonly Action[] } {
  const { t } = useTranslation('mirror')
  const platform = useIsPlatform()
  const bp_id = useCurrentUser()?.bp_id ?? null
  const remove = useChange(registryProjects.delete, { invalidates: invalidatedByProject, silent: true })
  return {
    actionsOf: (project) => {
      const { id, name, repository_count: repositories, tag_count: tags, used_bytes } = project
      const disabledReason = isOwn(project, { platform, bp_id }) ? null : t('project.notOwn')
      return [
        {
          key: 'command',
          call: registryCommands.create,
          label: t('command.title'),
          dialog: (close) => <CommandDialog registry={registry} project={name} onClose={close} />,
        },
        {
          key: 'edit',
          call: registryProjects.update,
          label: t('action.edit'),
          disabledReason,
          dialog: (close) => <ProjectDialog registry={registry} project={project} onClose={close} />,
        },
        {
          key: 'delete',
          call: registryProjects.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason,
          confirm: {
            title: t('project.deleteTitle', { name }),
            body: repositories === 0 ? t('project.deleteEmpty') : t('project.deleteBody', { repositories, tags, size: format.bytes(used_bytes) }),
            ...(repositories > 0 && { typeToConfirm: name }),
          },
          doneText: t('deleted', { name }),
          run: async () => {
            await remove.mutateAsync({ params: { id: registry.id, pid: id }, query: { force: repositories > 0 ? 'true' : 'false' } })
            then.onDeleted?.()
          },
        },
      ]
    },
  }
}
