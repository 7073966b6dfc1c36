import { resourceTypes, services, type Service } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne, useChange } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import type { Action } from '../../kit/actions.tsx'
import { paths, withQuery } from '../../paths.ts'
import * as format from '../../kit/format.ts'
import { ActionTable } from './ActionTable.tsx'
import { serviceText } from '../../kit/actionText.ts'
import { keyTypeText } from './editor/conditionText.ts'
import { invalidatedByService } from './invalidated.ts'
import './iam.css'

/** One family of calls, its actions and the kinds of resources that they are about. */
export default function ServiceDetail() {
  const { t } = useTranslation('iam')
  const { id = '' } = useParams()
  const actionsOf = useServiceActions()
  const query = useOne(services.get, { params: { id } })
  return (
    <DetailPage
      query={query}
      gone={{ to: paths.iam.service.list() }}
      title={(service) => serviceText(service.id, [service])}
      actions={actionsOf}
      facts={(service) => [
        { key: 'id', label: t('column.actionId'), value: <CopyCode text={`${service.id}.*`} /> },
        { key: 'kind', label: t('service.kind'), value: t(service.built_in ? 'service.builtIn' : 'service.custom') },
        ...(service.built_in
          ? []
          : [
              { key: 'owner', label: t('column.owner'), value: service.bp_name ?? t('platform') },
              { key: 'description', label: t('description'), value: service.description || format.nothing },
              {
                key: 'keys',
                label: t('service.conditionKeys'),
                value:
                  service.condition_keys.length === 0
                    ? format.nothing
                    : service.condition_keys.map(({ key, type }) => `${key}（${keyTypeText(t, type)}）`).join('、'),
              },
            ]),
        { key: 'count', label: t('service.actionCount'), value: t('service.count', { count: service.actions.length }) },
        {
          key: 'types',
          label: t('service.typeCount'),
          value: (
            <span className="ia-links">
              {[...new Set(service.actions.map(({ resource_type }) => resource_type))].map((type) => (
                <Link key={type} to={paths.iam.resource.detail(type)}>
                  {kindText(type)}
                </Link>
              ))}
            </span>
          ),
        },
      ]}
    >
      {(service) => <ActionTable actions={service.actions} withType />}
    </DetailPage>
  )
}

/** What can be done to a service of somebody's own; ours stay as they are. */
function useServiceActions(): (service: Service) => readonly Action[] {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  const remove = useChange(services.delete, { invalidates: invalidatedByService })
  return ({ id, name, built_in, actions }) =>
    built_in
      ? []
      : [
          { key: 'edit', call: services.update, label: t('action.edit'), href: withQuery(paths.iam.service.add(), { edit: id }) },
          { key: 'type', call: resourceTypes.create, label: t('resource.create'), href: withQuery(paths.iam.resource.add(), { service: id }) },
          {
            key: 'delete',
            call: services.delete,
            label: t('action.delete'),
            danger: true,
            confirm: { title: t('service.deleteTitle', { name }), body: t('service.deleteBody', { count: actions.length }) },
            doneText: t('deleted', { name }),
            run: async () => {
              await remove.mutateAsync({ params: { id } })
              void navigate(paths.iam.service.list())
            },
          },
        ]
}
