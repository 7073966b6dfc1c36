import { organisations, type Organisation } from '@zhisuan/contract/ums/user'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { invalidatedByOrganisation } from './invalidated.ts'
import './identity.css'

const QuotaDrawer = lazy(() => import('../quota/QuotaDrawer.tsx').then(({ QuotaDrawer: drawer }) => ({ default: drawer })))

interface Values {
  name: string
  description: string
}

/** What can be done to an organisation. */
export function useOrganisationActions(): { readonly actionsOf: (organisation: Organisation) => readonly Action[] } {
  const { t } = useTranslation('identity')
  const act = useChange(organisations.action, { invalidates: invalidatedByOrganisation })
  return {
    actionsOf: (organisation) => {
      const { id, name, status, user_count } = organisation
      const frozen = status === 'frozen'
      return [
        { key: 'edit', call: organisations.update, label: t('action.edit'), dialog: (close) => <EditDialog id={organisation.id} onClose={close} /> },
        { key: 'quota', call: null, label: t('action.quota'), dialog: (close) => <QuotaDrawer of={organisation} onClose={close} /> },
        frozen
          ? {
              key: 'unfreeze',
              call: organisations.action,
              label: t('action.unfreeze'),
              confirm: { title: t('organisation.unfreezeTitle', { name }), body: t('organisation.unfreezeBody') },
              doneText: t('organisation.unfrozen', { name }),
              run: () => act.mutateAsync({ params: { id }, body: { action: 'unfreeze' } }),
            }
          : {
              key: 'freeze',
              call: organisations.action,
              label: t('action.freeze'),
              danger: true,
              confirm: { title: t('organisation.freezeTitle', { name }), body: <FreezeWhat count={user_count} /> },
              doneText: t('organisation.frozen', { name }),
              run: () => act.mutateAsync({ params: { id }, body: { action: 'freeze' } }),
            },
      ]
    },
  }
}

/** What stops, and what does not. */
function FreezeWhat({ count }: { readonly count: number }) {
  const { t } = useTranslation('identity')
  return (
    <>
      {t('organisation.freezeWhat')}
      <ul className="identity-what">
        <li>{t('organisation.freezeStops.people', { count })}</li>
        <li>{t('organisation.freezeStops.invitations')}</li>
        <li>{t('organisation.freezeStops.runs')}</li>
      </ul>
    </>
  )
}

/** Once it is known what is said about it: the list does not tell. */
function EditDialog({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('identity')
  const { data } = useCall(organisations.get, { params: { id } })
  const update = useChange(organisations.update, { invalidates: invalidatedByOrganisation, silent: true })
  const { shape } = organisations.update.body
  if (data === undefined) return null
  return (
    <FormDialog<Values>
      title={t('organisation.editTitle', { name: data.name })}
      okText={t('save')}
      initialValues={{ name: data.name, description: data.description }}
      onSubmit={(body) => update.mutateAsync({ params: { id }, body })}
      doneText={t('saved', { name: data.name })}
      onClose={onClose}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}

export function OrganisationDialog({ onMade, onClose }: Dialog<{ onMade: (id: string) => void }>) {
  const { t } = useTranslation('identity')
  const create = useChange(organisations.create, { invalidates: invalidatedByOrganisation, silent: true, onDone: ({ id }) => onMade(id) })
  const { shape } = organisations.create.body
  return (
    <FormDialog<Values>
      title={t('organisation.create')}
      okText={t('organisation.create')}
      initialValues={{ name: '', description: '' }}
      onSubmit={(body) => create.mutateAsync({ body })}
      doneText={t('organisation.made')}
      onClose={onClose}
    >
      <p className="zs-soft">{t('organisation.createNote')}</p>
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
