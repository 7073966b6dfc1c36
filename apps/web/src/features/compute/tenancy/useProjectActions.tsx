import { keystoneProjects, type KeystoneProject } from '@zhisuan/contract/compute/project'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { AdoptDialog } from './AdoptDialog.tsx'
import { QuotaDialog } from './QuotaDialog.tsx'

/** What can be done to a project of a cloud's Keystone. */
export function useProjectActions(cloudId: string): { readonly actionsOf: (project: KeystoneProject) => readonly Action[] } {
  const { t } = useTranslation('computeTenancy')
  const dialogs = {
    quota: (project: KeystoneProject, close: () => void) => <QuotaDialog cloudId={cloudId} project={project} onClose={close} />,
    adopt: (project: KeystoneProject, close: () => void) => <AdoptDialog cloudId={cloudId} project={project} onClose={close} />,
  }
  const remove = useChange(keystoneProjects.delete, { invalidates: [keystoneProjects.list] })
  const opening = (kind: keyof typeof dialogs, project: KeystoneProject, disabledReason: string | null): Action => ({
    key: kind,
    call: kind === 'quota' ? keystoneProjects.setQuota : keystoneProjects.adopt,
    label: t(`${kind}.action`),
    disabledReason,
    dialog: (close) => dialogs[kind](project, close),
  })
  const gone = ({ state }: KeystoneProject): string | null => (state === 'missing' ? t('missing') : null)
  return {
    actionsOf: (project) => [
      opening('quota', project, gone(project)),
      opening('adopt', project, gone(project) ?? (project.registration ? t('adopt.registration') : project.state === 'owned' ? t('adopt.ownedAlready') : null)),
      {
        key: 'delete',
        call: keystoneProjects.delete,
        label: t('delete.action'),
        danger: true,
        disabledReason: project.registration || project.state === 'owned' ? t('delete.owned') : project.state === 'foreign' ? t('delete.foreign') : null,
        doneText: t('delete.done', { name: project.name }),
        confirm: {
          title: t('delete.title', { name: project.name }),
          body: t(project.state === 'missing' ? 'delete.bodyMissing' : 'delete.body'),
          typeToConfirm: project.name,
        },
        run: () => remove.mutateAsync({ params: { cloud_id: cloudId, id: project.id } }),
      },
    ],
  }
}
