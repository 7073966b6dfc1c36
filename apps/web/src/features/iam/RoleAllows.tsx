import { useQueries } from '@tanstack/react-query'
import Skeleton from 'antd/es/skeleton'
import Tag from 'antd/es/tag'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import type { RoleRow } from '@zhisuan/contract/iam/role'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useMemo } from 'react'
import { useTranslation } from '../../i18n.ts'
import { request, toApiError } from '../../api/client.ts'
import { useCall } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { serviceText, verbText } from '../../kit/actionText.ts'
import { roleAllows, type Allowance } from './roleAllows.ts'
import { useVocabulary } from '../../kit/useVocabulary.ts'
import './iam.css'

const colours: Readonly<Record<Exclude<Allowance, 'no'>, string>> = { yes: 'success', partly: 'warning', denied: 'error' }

/** What a role allows, action by action, as its base and its policies say together. */
export function RoleAllows({ role }: { readonly role: RoleRow }) {
  const { t } = useTranslation('iam')
  const { vocabulary, error, retry } = useVocabulary()
  const given = useCall(grants.list, { query: { role_id: role.id, page_size: 1000 } }, { silent: true })
  const documents = useQueries({
    queries: (given.data?.items ?? []).map(({ policy: { id } }) => ({
      queryKey: [policies.get.id, { params: { id } }],
      queryFn: () => request(policies.get, { params: { id } }),
      meta: { silent: true },
    })),
    combine: (results) => ({
      known: results.every(({ data }) => data !== undefined) ? results.flatMap(({ data }) => data ?? []) : undefined,
      failed: results.find((one) => one.error !== null)?.error ?? null,
    }),
  })
  const { known, failed } = documents
  const allows = useMemo(
    () =>
      vocabulary === undefined || given.data === undefined || known === undefined
        ? undefined
        : roleAllows(
            role,
            vocabulary.services,
            known.map(({ id, document }) => ({ id, document })),
          ),
    [vocabulary, given.data, known, role],
  )
  const wrong = error ?? given.error ?? (failed === null ? null : toApiError(failed))
  if (wrong !== null) return <ErrorPanel error={wrong} onRetry={retry} />
  if (vocabulary === undefined || allows === undefined) return <Skeleton active />
  const count = (of: Allowance): number => [...allows.values()].filter((one) => one === of).length
  const shown = vocabulary.services.flatMap((service) => {
    const types = [...Map.groupBy(service.actions, ({ resource_type }) => resource_type)].flatMap(([type, actions]) => {
      const said = actions.flatMap(({ id }) => {
        const allowance = allows.get(id) ?? 'no'
        return allowance === 'no' ? [] : [{ id, allowance }]
      })
      return said.length === 0 ? [] : [{ type, said }]
    })
    return types.length === 0 ? [] : [{ service, types }]
  })
  if (shown.length === 0) return <EmptyState title={t('allows.empty')}>{t('allows.emptyNote')}</EmptyState>
  return (
    <>
      <p>{t('allows.summary', { allowed: count('yes'), partly: count('partly'), denied: count('denied') })}</p>
      <p className="zs-soft">
        {t('allows.note')} {t('allows.everybody')}
      </p>
      {shown.map(({ service, types }) => (
        <section key={service.id} className="ia-allows">
          <h2>
            {serviceText(service.id)} <span className="zs-code zs-soft">{service.id}</span>
          </h2>
          <dl>
            {types.map(({ type, said }) => (
              <div key={type}>
                <dt>{kindText(type)}</dt>
                <dd>
                  {said.map(({ id, allowance }) => (
                    <Tag key={id} title={id} color={colours[allowance]}>
                      {verbText(id)}
                      {allowance !== 'yes' && `（${t(`allows.${allowance}`)}）`}
                    </Tag>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  )
}
