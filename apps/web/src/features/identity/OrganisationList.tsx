import { quotas } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import { organisations, type Organisation } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../paths.ts'
import { amountText, levelOf, worthLook } from '../../kit/quotaLines.ts'
import { OrganisationDetail } from './OrganisationDetail.tsx'
import { OrganisationDialog, useOrganisationActions } from './useOrganisationActions.tsx'

/** All organisations, or the one that the address names: it has no route of its own. */
export default function OrganisationList() {
  const [search] = useSearchParams()
  const id = search.get('id')
  return id === null ? <List /> : <OrganisationDetail key={id} id={id} />
}

function List() {
  const { t } = useTranslation('identity')
  const navigate = useNavigate()
  const { actionsOf } = useOrganisationActions()
  const to = (id: string, tab?: string): string => withQuery(paths.iam.partners(), { id, tab })
  return (
    <ResourceTable
      call={organisations.list}
      columns={[
        col.name<Organisation>('name', t('column.name'), ({ name }) => name, { sort: true, width: 240, to: ({ id }) => to(id) }),
        col.status<Organisation>(
          'status',
          t('column.state'),
          ({ status }) => ({ tone: status === 'active' ? 'good' : 'bad', text: t(`organisation.status.${status}`) }),
          { width: 100 },
        ),
        col.text<Organisation>('kind', t('column.kind'), ({ kind }) => t(`organisation.kind.${kind}`), { width: 80 }),
        col.number<Organisation>('members', t('column.members'), ({ user_count }) => user_count, { width: 80 }),
        col.custom<Organisation>('quota', t('column.quota'), ({ id }) => <Quota id={id} />, { width: 200 }),
        col.date<Organisation>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<Organisation>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[
        filter.keyword(t('organisation.keyword')),
        filter.oneOf('status', t('column.state'), ['active', 'frozen'], (value) => t(`organisation.status.${value}`)),
      ]}
      rowActions={actionsOf}
      create={{
        call: organisations.create,
        label: t('organisation.create'),
        dialog: (close) => <OrganisationDialog onMade={(id) => void navigate(to(id, 'invitations'))} onClose={close} />,
      }}
      empty={{ title: t('organisation.empty'), note: t('organisation.emptyNote') }}
    />
  )
}

/** Of all that is limited or used, what runs out first. */
function Quota({ id }: { readonly id: string }) {
  const { t } = useTranslation('identity')
  const { data } = useCall(quotas.get, { params: { bp_id: id } }, { silent: true })
  if (data === undefined) return format.nothing
  const [line] = worthLook(data.lines)
  if (line === undefined) return t('organisation.quotaFree')
  const { resource, used, limit } = line
  const text = t('organisation.quotaWorst', {
    resource: quotaTexts[resource],
    used: `${amountText(resource, used)}${limit === null ? '' : ` / ${amountText(resource, limit)}`}`,
  })
  return <span className={levelOf(line) === 'fine' ? 'zs-number' : 'zs-number zs-bad'}>{text}</span>
}
