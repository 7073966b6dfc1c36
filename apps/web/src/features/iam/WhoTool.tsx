import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { decisions } from '@zhisuan/contract/iam/decision'
import { useTranslation } from '../../i18n.ts'
import { Link, useSearchParams } from 'react-router'
import { col } from '../../kit/columns.tsx'
import { TextField } from '../../kit/fields.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable, type RowOf } from '../../kit/ResourceTable.tsx'
import { withQuery } from '../../paths.ts'
import { actionText } from '../../kit/actionText.ts'
import { outcomeTone, policyText, statementText } from './outcome.ts'
import { ActionField } from '../../kit/identitySelects.tsx'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

type Judged = RowOf<typeof decisions.who>

interface Question {
  action: string
  resource: string
}

/** Who may do something: asked in the address, so that it can be passed on. */
export function WhoTool() {
  const { t } = useTranslation(['iam', 'kit'])
  const { pages } = useKeeping()
  const [search, setSearch] = useSearchParams()
  const [action, resource] = [search.get('action'), search.get('resource') ?? '']
  return (
    <>
      <p className="zs-soft ia-lead">{t('decision.whoLead')}</p>
      <Form<Question>
        noValidate
        layout="vertical"
        className="ia-question"
        initialValues={{ action: action ?? undefined, resource }}
        onFinish={(asked) =>
          setSearch({ tab: 'who', action: asked.action, ...(asked.resource !== '' && { resource: asked.resource.trim() }) }, { replace: true })
        }
      >
        <ActionField name="action" label={t('decision.action')} missing={t('grant.required')} />
        <TextField name="resource" label={t('decision.resource')} extra={t('decision.resourceNote')} rules={[{ max: 256 }]} />
        <Button type="primary" htmlType="submit">
          {t('decision.ask')}
        </Button>
      </Form>
      {action !== null && (
        <section aria-label={actionText(action)}>
          <h2 className="zs-heading">{actionText(action)}</h2>
          <ResourceTable
            call={decisions.who}
            input={{ query: { action, ...(resource !== '' && { resource }) } }}
            rows={({ items }) => items.map((item) => ({ ...item, id: item.user.id }))}
            // Made in the line above; the call's own rows have none.
            rowKey={'id' as 'by'}
            nameOf={({ user }) => user.name}
            refreshMs={false}
            columns={[
              col.name<Judged>('name', t('column.user'), ({ user }) => user.name, {
                sort: true,
                note: ({ user }) => (user.nickname === user.name ? '' : user.nickname),
              }),
              col.text<Judged>('bp', t('column.organisation'), ({ user }) => user.bp_name ?? t('platform'), { width: 160 }),
              col.status<Judged>('outcome', t('column.outcome'), ({ outcome }) => ({ tone: outcomeTone(outcome), text: t(`decision.outcome.${outcome}`) }), {
                width: 140,
              }),
              col.text<Judged>('by', t('column.by'), ({ by }) => (by === null ? null : `${policyText(t, by)} ${statementText(t, by)}`), { width: 260 }),
              col.custom<Judged>(
                'why',
                t('decision.why'),
                ({ user }) => <Link to={withQuery(pages.authorize(), { tab: 'why', user: user.id, action, resource })}>{t('decision.why')}</Link>,
                {
                  width: 90,
                },
              ),
            ]}
            filters={[
              filter.select('allowed', t('decision.everyone'), [
                { value: 'true', label: t('decision.allowedOnly') },
                { value: 'false', label: t('decision.refusedOnly') },
              ]),
            ]}
          />
        </section>
      )}
    </>
  )
}
