import { resourceTypes, services, type ResourceType } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne, useCall, useChange } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import type { Action } from '../../kit/actions.tsx'
import { paths, withQuery } from '../../paths.ts'
import * as format from '../../kit/format.ts'
import { ActionTable } from './ActionTable.tsx'
import { serviceText } from '../../kit/actionText.ts'
import { invalidatedByService } from './invalidated.ts'
import { nameWith, ownOrganisation } from '../../kit/useVocabulary.ts'
import './iam.css'

/** One kind of resource: how it is named, and the actions that are about it. */
export default function ResourceTypeDetail() {
  const { t } = useTranslation('iam')
  const { id = '' } = useParams()
  const actionsOf = useTypeActions()
  const query = useOne(resourceTypes.get, { params: { id } })
  return (
    <DetailPage
      query={query}
      gone={{ to: paths.iam.resource.list() }}
      title={(type) => kindText(type.id)}
      actions={actionsOf}
      facts={(type) => [
        { key: 'service', label: t('column.service'), value: <Link to={paths.iam.service.detail(type.service)}>{serviceText(type.service)}</Link> },
        { key: 'kind', label: t('service.kind'), value: t(type.built_in ? 'service.builtIn' : 'service.custom') },
        ...(type.built_in ? [] : [{ key: 'description', label: t('description'), value: type.description || format.nothing }]),
        { key: 'actions', label: t('column.actions'), value: <CopyCode text={`${type.id}.*`} /> },
      ]}
    >
      {(type) => (
        <>
          <Names type={type} />
          <TypeActions type={type} />
        </>
      )}
    </DetailPage>
  )
}

function Names({ type }: { readonly type: ResourceType }) {
  const { t } = useTranslation('iam')
  const name = kindText(type.id)
  return (
    <section className="zs-card" aria-labelledby="resource-names">
      <h2 id="resource-names">{t('resource.names')}</h2>
      <dl className="ia-names">
        <dt>{t('resource.nameForm')}</dt>
        <dd>
          <CopyCode text={type.name} />
        </dd>
        <dt>{t('resource.nameOwn', { type: name })}</dt>
        <dd>
          <CopyCode text={nameWith(type.name, ownOrganisation)} />
        </dd>
        <dt>{t('resource.nameAll', { type: name })}</dt>
        <dd>
          <CopyCode text={nameWith(type.name, '*')} />
        </dd>
      </dl>
    </section>
  )
}

function TypeActions({ type }: { readonly type: ResourceType }) {
  const { data } = useCall(services.get, { params: { id: type.service } }, { silent: true })
  return <ActionTable actions={(data?.actions ?? []).filter(({ resource_type }) => resource_type === type.id)} withType={false} />
}

/** What can be done to a kind of somebody's own; ours stay as they are. */
function useTypeActions(): (type: ResourceType) => readonly Action[] {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  const remove = useChange(resourceTypes.delete, { invalidates: invalidatedByService })
  return ({ id, built_in, actions }) =>
    built_in
      ? []
      : [
          { key: 'edit', call: resourceTypes.update, label: t('action.edit'), href: withQuery(paths.iam.resource.add(), { edit: id }) },
          {
            key: 'delete',
            call: resourceTypes.delete,
            label: t('action.delete'),
            danger: true,
            disabledReason: actions.length === 0 ? null : t('resource.hasActions', { count: actions.length }),
            confirm: { title: t('resource.deleteTitle', { name: id }), body: t('resource.deleteBody') },
            doneText: t('deleted', { name: id }),
            run: async () => {
              await remove.mutateAsync({ params: { id } })
              void navigate(paths.iam.resource.list())
            },
          },
        ]
}
