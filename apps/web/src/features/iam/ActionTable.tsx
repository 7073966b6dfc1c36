import Tag from 'antd/es/tag'
import type { ServiceAction } from '@zhisuan/contract/iam/service'
import { roles } from '@zhisuan/contract/roles'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { Link } from 'react-router'
import { col } from '../../kit/columns.tsx'
import { paths, withQuery } from '../../paths.ts'
import { actionText } from '../../kit/actionText.ts'
import { useRoleName } from '../../kit/roleNames.ts'
import { SearchTable } from './SearchTable.tsx'

/** Actions; each leads to its kind of resource and to who may do it. */
export function ActionTable({ actions, withType }: { readonly actions: readonly ServiceAction[]; readonly withType: boolean }) {
  const { t } = useTranslation('iam')
  const nameOf = useRoleName()
  return (
    <SearchTable
      label={t('service.keyword')}
      rows={actions}
      rowKey="id"
      textOf={({ id, summary }) => `${actionText(id)} ${id} ${summary}`}
      countText={(count) => t('service.count', { count })}
      columns={[
        col.text<ServiceAction>(
          'name',
          t('column.action'),
          (action) => (action.method === null && action.summary !== '' ? action.summary : actionText(action.id)),
          { width: 180 },
        ),
        col.custom<ServiceAction>('id', t('column.actionId'), ({ id }) => <CopyCode text={id} />, { width: 250 }),
        col.text<ServiceAction>('type', t('column.resourceType'), ({ resource_type }) => kindText(resource_type), {
          when: withType,
          to: ({ resource_type }) => paths.iam.resource.detail(resource_type),
          width: 110,
        }),
        col.text<ServiceAction>('level', t('column.level'), ({ level }) => t(`service.level.${level}`), { width: 80 }),
        col.custom<ServiceAction>(
          'roles',
          t('column.roles'),
          (action) =>
            action.method === null ? (
              <span className="zs-soft">{t('service.byPolicy')}</span>
            ) : action.roles.length === roles.length ? (
              <span className="zs-soft">{t('service.everybody')}</span>
            ) : (
              <span className="zs-tags">
                {action.roles.map((role) => (
                  <Tag key={role}>{nameOf({ name: role })}</Tag>
                ))}
              </span>
            ),
          { width: 200 },
        ),
        col.custom<ServiceAction>(
          'who',
          t('column.holders'),
          ({ id }) => <Link to={withQuery(paths.iam.authorize(), { tab: 'who', action: id })}>{t('service.who')}</Link>,
          { width: 100 },
        ),
      ]}
    />
  )
}
