import Form from 'antd/es/form'
import { policies, type Policy, type PolicyVersion } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { CheckField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { newDocument, writeJson } from './editor/builderDocument.ts'
import { documentRules } from './editor/documentProblems.ts'
import { PolicyEditor } from './editor/PolicyEditor.tsx'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { Touched } from './Touched.tsx'
import { invalidatedByPolicy } from './invalidated.ts'
import type { Vocabulary } from '../../kit/useVocabulary.ts'
import { WithVocabulary } from './WithVocabulary.tsx'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

/** Makes a policy, with `copy` in the address one that begins as another; with `id` and `from` another version of one, which begins as an old one. */
export default function PolicyAdd() {
  const [search] = useSearchParams()
  const [id, from, copy] = [search.get('id'), search.get('from'), search.get('copy')]
  return (
    <WithVocabulary>
      {(vocabulary) => {
        if (id !== null) return <NewVersionOf key={`${id} ${from}`} id={id} from={from} vocabulary={vocabulary} />
        return copy === null ? <NewPolicy vocabulary={vocabulary} /> : <CopyOf key={copy} id={copy} vocabulary={vocabulary} />
      }}
    </WithVocabulary>
  )
}

function DocumentField({ vocabulary }: { readonly vocabulary: Vocabulary }) {
  const { t } = useTranslation('iam')
  return (
    <Form.Item
      name="document"
      label={t('policy.document')}
      extra={t('policy.documentNote')}
      className="ia-document"
      required
      rules={documentRules(vocabulary.known)}
      validateFirst
      validateDebounce={400}
    >
      <PolicyEditor vocabulary={vocabulary} />
    </Form.Item>
  )
}

interface Values {
  name: string
  description: string
  bp_id: string | undefined
  document: string
}

const { shape } = policies.create.body

function CopyOf({ id, vocabulary }: { readonly id: string; readonly vocabulary: Vocabulary }) {
  const { t } = useTranslation('iam')
  const { data, error, refetch } = useCall(policies.get, { params: { id } }, { silent: true })
  if (error !== null) {
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (data === undefined) return <PagePlaceholder />
  return (
    <NewPolicy
      vocabulary={vocabulary}
      from={{ name: t('policy.copyName', { name: data.name }), description: data.description, document: writeJson(data.document) }}
      lead={t('policy.copyNote', { name: data.name })}
    />
  )
}

const blank = { name: '', description: '', document: newDocument }

function NewPolicy({
  vocabulary,
  from = blank,
  lead,
}: {
  readonly vocabulary: Vocabulary
  readonly from?: Pick<Values, 'name' | 'description' | 'document'>
  readonly lead?: string
}) {
  const { t } = useTranslation('iam')
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const create = useChange(policies.create, { invalidates: invalidatedByPolicy })
  const submit = async ({ name, description, bp_id, document }: Values): Promise<void> => {
    const made = await create.mutateAsync({ body: { name, description, bp_id: bp_id ?? null, document: JSON.parse(document) as unknown } })
    notify('success', t('policy.made', { name: made.name }))
    void navigate(pages.policy.version(made.id))
  }
  return (
    <FormPage<Values> initialValues={from} submitText={t('policy.submit')} onCancel={() => void navigate(pages.policy.list())} onSubmit={submit}>
      {lead !== undefined && <p className="zs-soft ia-lead">{lead}</p>}
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      {everybody && <OrganisationField name="bp_id" label={t('field.owner')} extra={t('field.ownerNote')} />}
      <DocumentField vocabulary={vocabulary} />
    </FormPage>
  )
}

function NewVersionOf({ id, from, vocabulary }: { readonly id: string; readonly from: string | null; readonly vocabulary: Vocabulary }) {
  const policy = useCall(policies.get, { params: { id } }, { silent: true })
  // Without a number the version that counts.
  const version = useCall(
    policies.version,
    { params: { id, version: from ?? policy.data?.default_version ?? 1 } },
    { silent: true, enabled: policy.data !== undefined },
  )
  const error = policy.error ?? version.error
  if (error !== null) {
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void (policy.error === null ? version : policy).refetch()} />
      </div>
    )
  }
  return policy.data === undefined || version.data === undefined ? (
    <PagePlaceholder />
  ) : (
    <NewVersion policy={policy.data} from={version.data} vocabulary={vocabulary} />
  )
}

interface VersionValues {
  document: string
  default: boolean
}

function NewVersion({ policy, from, vocabulary }: { readonly policy: Policy; readonly from: PolicyVersion; readonly vocabulary: Vocabulary }) {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const navigate = useNavigate()
  const [form] = Form.useForm<VersionValues>()
  const counts = Form.useWatch('default', form) ?? false
  usePageTitle(t('policy.newVersionTitle', { name: policy.name }))
  const add = useChange(policies.addVersion, { invalidates: invalidatedByPolicy })
  const submit = async (values: VersionValues): Promise<void> => {
    const { version, is_default } = await add.mutateAsync({
      params: { id: policy.id },
      body: { document: JSON.parse(values.document) as unknown, default: values.default },
    })
    notify('success', t(is_default ? 'policy.versionSavedDefault' : 'policy.versionSaved', { version }))
    void navigate(pages.policy.version(policy.id))
  }
  return (
    <FormPage<VersionValues>
      form={form}
      initialValues={{ document: writeJson(from.document), default: false }}
      submitText={t('policy.saveVersion')}
      onCancel={() => void navigate(pages.policy.version(policy.id))}
      onSubmit={submit}
    >
      <p className="zs-soft ia-lead">{t('policy.fromVersion', { version: from.version })}</p>
      <DocumentField vocabulary={vocabulary} />
      <CheckField name="default" text={t('policy.makeDefaultNow')} extra={counts ? <Touched policyId={policy.id} /> : t('policy.notDefaultNow')} />
    </FormPage>
  )
}
