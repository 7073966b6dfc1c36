import Select from 'antd/es/select'
import { policies, type Policy, type PolicyVersion } from '@zhisuan/contract/iam/policy'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { useOne, useCall } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import '../../kit/codeEditor.css'
import { writeJson } from './editor/builderDocument.ts'
import { useVersionActions } from './PolicyVersions.tsx'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

// CodeMirror is a chunk of its own.
const DiffView = lazy(() => import('./documentDiffView.tsx'))

/** One version of a policy, beside another one that is chosen in the address. */
export default function PolicyVersionDetail() {
  const { policyId = '' } = useParams()
  const policy = useCall(policies.get, { params: { id: policyId } }, { silent: true, refreshMs: 5_000 })
  if (policy.data !== undefined) return <OneVersion policy={policy.data} />
  if (policy.error === null) return <PagePlaceholder />
  return (
    <div className="zs-card">
      <ErrorPanel error={policy.error} onRetry={() => void policy.refetch()} />
    </div>
  )
}

function OneVersion({ policy }: { readonly policy: Policy }) {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const navigate = useNavigate()
  const { versionId = '' } = useParams()
  const query = useOne(policies.version, { params: { id: policy.id, version: versionId } }, { refreshMs: 5_000 })
  const actionsOf = useVersionActions(policy, () => void navigate(pages.policy.version(policy.id)))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.policy.version(policy.id) }}
      title={({ version }) => `${policy.name} · ${t('policy.versionOf', { version })}`}
      status={({ is_default }) => <StatusTag tone={is_default ? 'good' : 'rest'}>{t(is_default ? 'policy.isDefault' : 'policy.notDefault')}</StatusTag>}
      actions={actionsOf}
      facts={(version) => [
        { key: 'policy', label: t('column.policy'), value: <Link to={pages.policy.version(policy.id)}>{policy.name}</Link> },
        { key: 'statements', label: t('column.statements'), value: t('policy.statementCount', { count: version.document.Statement.length }) },
        { key: 'creator', label: t('column.creator'), value: version.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(version.created_at) },
      ]}
    >
      {(version) => <Document policy={policy} version={version} />}
    </DetailPage>
  )
}

function Document({ policy, version }: { readonly policy: Policy; readonly version: PolicyVersion }) {
  const { t } = useTranslation('iam')
  const [search, setSearch] = useSearchParams()
  const { data } = useCall(policies.versions, { params: { id: policy.id } }, { silent: true })
  const others = (data?.items ?? []).filter((one) => one.version !== version.version)
  const asked = search.get('with')
  // One that does not count is read for how it differs from the one that does.
  const other =
    asked === 'none'
      ? undefined
      : (others.find((one) => String(one.version) === asked) ?? (asked === null ? others.find(({ is_default }) => is_default) : undefined))
  const text = writeJson(version.document)
  const same = other !== undefined && writeJson(other.document) === text
  return (
    <section className="zs-card" aria-label={t('policy.document')}>
      <div className="zs-toolbar ia-compare">
        <h2>{t('policy.document')}</h2>
        {others.length > 0 && (
          <label>
            {t('policy.compareWith')}{' '}
            <Select<string>
              size="small"
              aria-label={t('policy.compareWith')}
              popupMatchSelectWidth={false}
              value={other === undefined ? 'none' : String(other.version)}
              options={[
                { value: 'none', label: t('policy.compareNone') },
                ...others.map((one) => ({
                  value: String(one.version),
                  label: `${t('policy.versionOf', { version: one.version })}${one.is_default ? `（${t('policy.isDefault')}）` : ''}`,
                })),
              ]}
              onChange={(next) => setSearch({ with: next }, { replace: true })}
            />
          </label>
        )}
      </div>
      {other !== undefined && <p className="zs-soft">{same ? t('policy.same') : t('policy.compared', { left: other.version, right: version.version })}</p>}
      {other === undefined || same ? (
        <pre className="ia-json">{text}</pre>
      ) : (
        <Suspense fallback={<div className="zs-editor zs-editor-late zs-late" aria-busy="true" />}>
          <DiffView
            left={{ label: t('policy.versionOf', { version: other.version }), text: writeJson(other.document) }}
            right={{ label: t('policy.versionOf', { version: version.version }), text }}
          />
        </Suspense>
      )}
    </section>
  )
}
