import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { contextKeys } from '@zhisuan/contract/policy/keys'
import { decisions } from '@zhisuan/contract/iam/decision'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { conditionKeyText } from './editor/conditionText.ts'
import { TextField } from '../../kit/fields.tsx'
import { ActionField, UserField } from '../../kit/identitySelects.tsx'
import { Verdict } from './Verdict.tsx'
import './iam.css'

interface Question {
  user_id: string
  action: string
  resource: string
  context: { key: string; value: string }[]
}

/** Those of the person themselves are known. */
const askedKeys = Object.keys(contextKeys).filter((key) => !['zs:UserId', 'zs:UserName', 'zs:UserKind', 'zs:OrganisationId'].includes(key))

interface Answer {
  readonly action: string
  readonly said: ResponseOf<typeof decisions.explain>
}

/** Why somebody may do something, or may not. */
export function WhyTool() {
  const { t } = useTranslation('iam')
  const [search, setSearch] = useSearchParams()
  const [form] = Form.useForm<Question>()
  const [answer, setAnswer] = useState<Answer | null>(null)
  const { mutateAsync, error, isPending } = useChange(decisions.explain, { silent: true })
  const [user, action, resource] = [search.get('user'), search.get('action'), search.get('resource') ?? '']

  const ask = async (question: Question): Promise<void> => {
    const body = { user_id: question.user_id, action: question.action, ...(question.resource.trim() !== '' && { resource: question.resource.trim() }) }
    const context = Object.fromEntries((question.context ?? []).filter((one) => one?.value?.trim()).map(({ key, value }) => [key, value.trim()]))
    setSearch(
      { tab: 'why', user: question.user_id, action: question.action, ...(body.resource !== undefined && { resource: body.resource }) },
      { replace: true },
    )
    // What failed is told below.
    await mutateAsync({ body: { ...body, context } }).then(
      (said) => setAnswer({ action: body.action, said }),
      () => setAnswer(null),
    )
  }
  // An address that asks is answered once.
  const opened = useRef(false)
  useEffect(() => {
    if (opened.current || user === null || action === null) return
    opened.current = true
    form.submit()
  }, [form, user, action])

  return (
    <>
      <p className="zs-soft ia-lead">{t('decision.whyLead')}</p>
      <Form<Question>
        noValidate
        form={form}
        layout="vertical"
        className="ia-question"
        initialValues={{ user_id: user ?? undefined, action: action ?? undefined, resource, context: [] }}
        onFinish={(question) => void ask(question)}
      >
        <UserField name="user_id" label={t('decision.user')} missing={t('grant.required')} known={answer?.said.user} />
        <ActionField name="action" label={t('decision.action')} missing={t('grant.required')} />
        <TextField name="resource" label={t('decision.resource')} extra={t('decision.resourceNote')} rules={[{ max: 256 }]} />
        <ContextFields />
        <Button type="primary" htmlType="submit" loading={isPending}>
          {t('decision.ask')}
        </Button>
      </Form>
      {error !== null && <ErrorPanel error={error} onRetry={() => form.submit()} />}
      <div aria-live="polite">{answer !== null && <Verdict answer={answer.said} action={answer.action} />}</div>
    </>
  )
}

function ContextFields() {
  const { t } = useTranslation('iam')
  return (
    <fieldset className="ia-context">
      <legend>{t('decision.context')}</legend>
      <p className="zs-soft">{t('decision.contextNote')}</p>
      <Form.List name="context">
        {(fields, { add, remove }) => (
          <>
            {fields.map(({ key, name }) => (
              <div key={key} className="ia-context-row">
                <Form.Item name={[name, 'key']} noStyle>
                  <Select aria-label={t('decision.contextKey')} options={askedKeys.map((value) => ({ value, label: conditionKeyText(t, value) }))} />
                </Form.Item>
                <TextField name={[name, 'value']} noStyle aria-label={t('decision.contextValue')} rules={[{ max: 256 }]} />
                <Button type="text" danger icon={<DeleteOutlined />} aria-label={t('decision.removeContext', { key: name + 1 })} onClick={() => remove(name)} />
              </div>
            ))}
            <Button size="small" icon={<PlusOutlined aria-hidden />} onClick={() => add({ key: 'zs:SourceIp', value: '' })}>
              {t('decision.addContext')}
            </Button>
          </>
        )}
      </Form.List>
    </fieldset>
  )
}
