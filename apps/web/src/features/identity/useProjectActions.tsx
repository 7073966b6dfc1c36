import Skeleton from 'antd/es/skeleton'
import { keptProjects, type KeptProject } from '@zhisuan/contract/iam/project'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { withQuery } from '../../paths.ts'
import { contentText, heldOf } from './projectContents.ts'
import { invalidatedByProject } from './invalidated.ts'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

/** What can be done to a project. */
export function useProjectActions(onDeleted?: () => void): { readonly actionsOf: (project: KeptProject) => readonly Action[] } {
  const { t } = useTranslation('identity')
  return {
    actionsOf: (project) => [
      { key: 'edit', call: keptProjects.update, label: t('action.edit'), dialog: (close) => <EditDialog project={project} onClose={close} /> },
      {
        key: 'delete',
        call: keptProjects.delete,
        label: t('action.delete'),
        danger: true,
        dialog: (close) => <DeleteDialog project={project} onClose={close} {...(onDeleted !== undefined && { onDeleted })} />,
      },
    ],
  }
}

interface Values {
  name: string
  description: string
}

function EditDialog({ project, onClose }: Dialog<{ project: KeptProject }>) {
  const { t } = useTranslation('identity')
  const update = useChange(keptProjects.update, { invalidates: invalidatedByProject, silent: true })
  const { shape } = keptProjects.update.body
  return (
    <FormDialog<Values>
      title={t('project.editTitle', { name: project.name })}
      okText={t('save')}
      initialValues={{ name: project.name, description: project.description }}
      onSubmit={(body) => update.mutateAsync({ params: { id: project.id }, body })}
      doneText={t('saved', { name: project.name })}
      onClose={onClose}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

/** Says what has to go first; what came into it meanwhile is told when the server refuses. */
function DeleteDialog({ project, onDeleted, onClose }: Dialog<{ project: KeptProject; onDeleted?: () => void }>) {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  const { id, name } = project
  const now = useCall(keptProjects.get, { params: { id } }, { silent: true })
  const contents = useCall(keptProjects.contents, { params: { id } }, { silent: true })
  const remove = useChange(keptProjects.delete, { invalidates: invalidatedByProject, silent: true })
  const known = now.data !== undefined && contents.data !== undefined
  const failed = now.error ?? contents.error
  const members = now.data?.member_count ?? 0
  const held = heldOf(contents.data)
  const empty = members === 0 && held.length === 0
  return (
    <FormDialog
      danger
      title={t('project.deleteTitle', { name })}
      okText={t('action.delete')}
      okDisabled={!known || !empty}
      initialValues={{}}
      onSubmit={() => remove.mutateAsync({ params: { id } }).then(onDeleted)}
      doneText={t('deleted', { name })}
      refusal={(reason) => ({ title: t('project.deleteRefused', { reason }) })}
      onClose={onClose}
      width={480}
    >
      {!known ? (
        failed === null ? (
          <Skeleton active paragraph={{ rows: 2 }} />
        ) : (
          <ErrorPanel error={failed} onRetry={() => void Promise.all([now.refetch(), contents.refetch()])} />
        )
      ) : empty ? (
        t('project.deleteEmpty')
      ) : (
        <>
          {t('project.deleteHolds')}
          <ul className="identity-what">
            {members > 0 && (
              <li>
                <Link to={pages.project.detail(id)} onClick={onClose}>
                  {t('project.deleteMembers', { count: members })}
                </Link>
              </li>
            )}
            {held.map((content) => (
              <li key={content.resource}>
                <Link to={withQuery(pages.project.detail(id), { tab: 'contents' })} onClick={onClose}>
                  {t('project.deleteResource', contentText(content))}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </FormDialog>
  )
}
