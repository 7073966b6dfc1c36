import { policyLimits } from '@zhisuan/contract/policy/document'
import { policies, type Policy, type PolicyVersion } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { useCall, useOne, useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { writeJson } from './editor/builderDocument.ts'
import { idOfVersionSegment } from './policyAt.ts'
import { Touched } from './Touched.tsx'
import { invalidatedByPolicy } from './invalidated.ts'
import { useNewVersionPath, useNotOurs, useOwner, usePolicyActions, useVersionsFull } from './usePolicyActions.tsx'
import { useKeeping } from '../../session/keeping.ts'
import './iam.css'

/** One policy: what it is, and its versions. */
export default function PolicyVersions() {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const navigate = useNavigate()
  const { id: segment = '' } = useParams()
  const id = idOfVersionSegment(segment)
  const query = useOne(policies.get, { params: { id } }, { refreshMs: 5_000 })
  const ownerOf = useOwner()
  const { actionsOf } = usePolicyActions(() => void navigate(pages.policy.list()))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.policy.list() }}
      title={({ name }) => name}
      actions={(policy) => actionsOf(policy).filter(({ key }) => key !== 'versions')}
      facts={(policy) => [
        { key: 'owner', label: t('column.owner'), value: ownerOf(policy) },
        { key: 'version', label: t('policy.defaultVersion'), value: t('policy.versionOf', { version: policy.default_version }) },
        { key: 'versions', label: t('column.versions'), value: t('policy.versionCount', { count: policy.version_count, max: policyLimits.versions }) },
        { key: 'contacts', label: t('column.contacts'), value: t('policy.contactCount', { count: policy.contact_count }) },
        { key: 'creator', label: t('column.creator'), value: policy.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(policy.created_at) },
        { key: 'description', label: t('description'), value: policy.description || format.nothing },
      ]}
    >
      {(policy) => (
        <>
          <OneStatement policy={policy} />
          <Versions policy={policy} />
        </>
      )}
    </DetailPage>
  )
}

/** The one that an address names, as the default version has it: it allowed or refused something. */
function OneStatement({ policy }: { readonly policy: Policy }) {
  const { t } = useTranslation('iam')
  const [search] = useSearchParams()
  const number = Number(search.get('statement'))
  const asked = Number.isInteger(number) && number > 0
  const { data } = useCall(policies.version, { params: { id: policy.id, version: String(policy.default_version) } }, { silent: true, enabled: asked })
  const statement = asked ? data?.document.Statement[number - 1] : undefined
  if (statement === undefined) return null
  return (
    <section className="zs-card" aria-label={t('policy.statementAt', { number })}>
      <h2 className="zs-heading">{t('policy.statementAt', { number })}</h2>
      <pre className="ia-json">{writeJson(statement)}</pre>
    </section>
  )
}

function Versions({ policy }: { readonly policy: Policy }) {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const actionsOf = useVersionActions(policy)
  const toVersion = ({ version }: PolicyVersion): string => pages.policy.versionDetail(policy.id, String(version))
  return (
    <ResourceTable
      call={policies.versions}
      input={{ params: { id: policy.id } }}
      rowKey="version"
      nameOf={({ version }) => t('policy.versionOf', { version })}
      columns={[
        col.name<PolicyVersion>('version', t('column.version'), ({ version }) => t('policy.versionOf', { version }), { width: 140, to: toVersion }),
        col.status<PolicyVersion>(
          'state',
          t('column.state'),
          ({ is_default }) => ({ tone: is_default ? 'good' : 'rest', text: t(is_default ? 'policy.isDefault' : 'policy.notDefault') }),
          { width: 110 },
        ),
        col.text<PolicyVersion>('statements', t('column.statements'), ({ document }) => t('policy.statementCount', { count: document.Statement.length }), {
          width: 90,
        }),
        col.text<PolicyVersion>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 140 }),
        col.date<PolicyVersion>('created', t('column.created'), ({ created_at }) => created_at),
      ]}
      rowActions={(row) => [{ key: 'detail', call: null, label: t('action.detail'), href: toVersion(row) }, ...actionsOf(row)]}
    />
  )
}

/** What can be done to a version of a policy. */
export function useVersionActions(policy: Policy, onDeleted?: () => void): (version: PolicyVersion) => readonly Action[] {
  const { t } = useTranslation('iam')
  const full = useVersionsFull()
  const newVersionPath = useNewVersionPath()
  const fixed = useNotOurs()(policy)
  const setDefault = useChange(policies.setDefault, { invalidates: invalidatedByPolicy })
  const remove = useChange(policies.deleteVersion, { invalidates: invalidatedByPolicy })
  return ({ version, is_default }) => {
    const params = { id: policy.id, version }
    return [
      {
        key: 'default',
        call: policies.setDefault,
        label: t('policy.makeDefault'),
        disabledReason: fixed ?? (is_default ? t('policy.alreadyDefault') : null),
        confirm: { title: t('policy.makeDefaultTitle', { version }), body: <Touched policyId={policy.id} /> },
        doneText: t('policy.madeDefault', { version }),
        run: () => setDefault.mutateAsync({ params }),
      },
      { key: 'from', call: policies.addVersion, label: t('policy.newFrom'), href: newVersionPath(policy.id, version), disabledReason: fixed ?? full(policy) },
      {
        key: 'delete',
        call: policies.deleteVersion,
        label: t('policy.deleteVersion'),
        danger: true,
        disabledReason: fixed ?? (is_default ? t('policy.defaultStays') : null),
        confirm: { title: t('policy.deleteVersionTitle', { version }), body: t('policy.deleteVersionBody') },
        doneText: t('policy.versionDeleted', { version }),
        run: async () => {
          await remove.mutateAsync({ params })
          onDeleted?.()
        },
      },
    ]
  }
}
