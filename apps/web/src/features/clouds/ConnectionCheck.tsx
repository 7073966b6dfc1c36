import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import type { FormInstance } from 'antd/es/form'
import { clouds, type CloudProduct } from '@zhisuan/contract/cmp/cloud'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import * as format from '../../kit/format.ts'
import { showFieldErrors } from '../../kit/rules.ts'
import { connectionOf } from './cloudForm.ts'
import { servicesOutcome } from './cloudRules.ts'
import { ServicesTable } from './ServicesTable.tsx'
import './clouds.css'

type Answer = ResponseOf<typeof clouds.test>

/** Tries a connection without keeping it, and shows what answered: of an OpenStack each service. */
export function ConnectionCheck({
  form,
  product,
  cloudId,
  current,
}: {
  readonly form: FormInstance
  readonly product: CloudProduct
  /** The registered cloud whose secrets count where none are typed. */
  readonly cloudId: string | null
  /** What the form holds now: an answer to something else is no longer true. */
  readonly current: unknown
}) {
  const { t } = useTranslation('clouds')
  const test = useChange(clouds.test, { silent: true })
  const [tested, setTested] = useState<string | null>(null)
  const now = JSON.stringify({ product, current })
  const stale = tested !== null && tested !== now

  const run = async (): Promise<void> => {
    const valid = await form.validateFields([['connection']], { recursive: true }).catch(() => null)
    if (valid === null) return
    const connection = connectionOf(form.getFieldValue('connection'))
    // What is shown, not what the form remembers besides of other kinds of connections.
    setTested(now)
    test.mutate(
      { body: { product, connection, ...(cloudId !== null && { cloud_id: cloudId }) } },
      { onError: (error) => void showFieldErrors(form, error.fields) },
    )
  }

  return (
    <div className="cl-test" aria-live="polite">
      <Button onClick={() => void run()} loading={test.isPending}>
        {test.isPending ? t('form.testing') : t('form.test')}
      </Button>
      {stale && !test.isPending && <span className="zs-soft">{t('form.testStale')}</span>}
      {!stale && test.error !== null && <Alert type="error" showIcon title={t('form.testFailed')} description={errorText(test.error)} />}
      {!stale && test.data !== undefined && test.error === null && <Outcome answer={test.data} />}
    </div>
  )
}

function Outcome({ answer }: { readonly answer: Answer }) {
  const { t } = useTranslation('clouds')
  if (answer.access === null) return <Alert type="success" showIcon title={t('form.testOk')} description={<Answered answer={answer} />} />
  const outcome = servicesOutcome(answer.services)
  return (
    <>
      <Alert type={outcome} showIcon title={t(`form.testServices.${outcome}`)} description={<Answered answer={answer} />} />
      {!answer.access.administrator && <Alert type="warning" showIcon title={t('form.notAdministrator')} description={t('form.notAdministratorNote')} />}
      <ServicesTable services={answer.services} />
    </>
  )
}

function Answered({ answer }: { readonly answer: Answer }) {
  const { t } = useTranslation('clouds')
  const { capacity, access } = answer
  const able = ({ available, reason }: Answer['instance_types']['vm']): string =>
    available ? t('test.yes') : reason === null ? t('test.no') : t('test.noBecause', { reason })
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
        { key: 'engine', label: t('test.engine'), children: [answer.engine, answer.version].filter((part) => part !== null).join(' ') },
        { key: 'host', label: t('test.host'), children: answer.host_name },
        ...(capacity === null
          ? []
          : [
              { key: 'nodes', label: t('test.nodes'), children: capacity.nodes },
              { key: 'cpu', label: t('test.cpu'), children: t('cores', { amount: format.number(capacity.cpu_cores.physical) }) },
              { key: 'memory', label: t('test.memory'), children: format.bytes(capacity.memory_bytes.physical) },
              { key: 'disk', label: t('test.disk'), children: format.bytes(capacity.disk_bytes.physical) },
            ]),
        ...(access === null
          ? [
              { key: 'vm', label: t('test.vm'), children: able(answer.instance_types.vm), span: 'filled' as const },
              { key: 'container', label: t('test.container'), children: able(answer.instance_types.container), span: 'filled' as const },
            ]
          : [
              { key: 'roles', label: t('test.roles'), children: access.roles.join('、') || t('test.noRoles') },
              { key: 'regions', label: t('test.regions'), children: access.regions.join('、') || format.nothing },
            ]),
      ]}
    />
  )
}
