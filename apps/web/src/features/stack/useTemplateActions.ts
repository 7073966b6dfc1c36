import { stacks, templates, type Template } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { stackPaths } from './stackPaths.ts'
import { invalidatedByTemplate } from './stackRules.ts'

/** What can be done to a template, and to one version of it. */
export function useTemplateActions(onDeleted?: (which: 'version' | 'all') => void): {
  readonly ofTemplate: (newest: Template) => readonly Action[]
  readonly ofVersion: (version: Template) => readonly Action[]
} {
  const { t } = useTranslation('application')
  const remove = useChange(templates.delete, { invalidates: invalidatedByTemplate })
  const deploy = ({ id }: Template): Action => ({ key: 'deploy', call: stacks.create, label: t('template.deploy'), href: stackPaths.deploy(id) })
  const another = ({ id }: Template): Action => ({ key: 'new', call: templates.create, label: t('template.newVersion'), href: stackPaths.newVersion(id) })
  const edit = ({ id }: Template): Action => ({ key: 'edit', call: templates.update, label: t('template.edit'), href: stackPaths.version(id, true) })
  const deleteOne = ({ id, name, version, version_count }: Template): Action => ({
    key: 'delete',
    call: templates.delete,
    label: t('template.deleteVersion'),
    danger: true,
    confirm: { title: t('confirm.version', { name, version }), body: t(version_count === 1 ? 'confirm.lastVersionBody' : 'confirm.templateBody') },
    doneText: t('done.version', { name, version }),
    run: async () => {
      await remove.mutateAsync({ query: { id } })
      onDeleted?.(version_count === 1 ? 'all' : 'version')
    },
  })
  const deleteAll = ({ name, version_count }: Template): Action => ({
    key: 'deleteAll',
    call: templates.delete,
    label: t('template.deleteAll'),
    danger: true,
    confirm: { title: t('confirm.template', { name, count: version_count }), body: t('confirm.templateBody'), typeToConfirm: name },
    doneText: t('done.template', { name }),
    run: async () => {
      await remove.mutateAsync({ query: { name } })
      onDeleted?.('all')
    },
  })
  return {
    ofTemplate: (newest) => [
      deploy(newest),
      { key: 'versions', call: null, label: t('template.versions'), href: stackPaths.version(newest.id) },
      another(newest),
      edit(newest),
      deleteAll(newest),
    ],
    ofVersion: (version) => [deploy(version), edit(version), another(version), deleteOne(version), ...(version.version_count > 1 ? [deleteAll(version)] : [])],
  }
}
