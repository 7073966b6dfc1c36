import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import Tabs from 'antd/es/tabs'
import { quotaResources, quotas, type Quota, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { OrganisationSelect } from '../../kit/OrganisationSelect.tsx'
import { LeaveDialog } from '../../kit/LeaveDialog.tsx'
import { LimitFields } from './LimitFields.tsx'
import { limitsOf, valueOf, type LimitValues } from '../../kit/quotaLines.ts'
import { wrongLimits } from './wrongLimits.ts'
import '../../kit/form.css'

const touched = [quotas.mine, quotas.get, quotas.list, quotas.defaults]

/**
 * Limits of one organisation, and of those that have none of their own.
 * @param of the organisation to begin with
 */
export function QuotaDrawer({ of, onClose }: { readonly of?: Named; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstackCompute')
  const [tab, setTab] = useState('organisation')
  const [organisation, setOrganisation] = useState<string | undefined>(of?.id)
  const [dirty, setDirty] = useState(false)
  /** What to do once somebody agrees to lose what they have typed. */
  const [leaving, setLeaving] = useState<(() => void) | null>(null)
  const guarded = (go: () => void): void => (dirty ? setLeaving(() => go) : go())
  const change = (go: () => void): void =>
    guarded(() => {
      setDirty(false)
      go()
    })
  return (
    <Drawer open size={720} title={t('quota.drawer.title')} mask={{ closable: !dirty }} onClose={() => guarded(onClose)}>
      <Tabs
        size="small"
        activeKey={tab}
        destroyOnHidden
        onChange={(next) => change(() => setTab(next))}
        items={[
          {
            key: 'organisation',
            label: t('quota.drawer.tab.organisation'),
            children: (
              <>
                <div className="zs-field">
                  <OrganisationSelect
                    label={t('quota.drawer.organisation')}
                    known={of}
                    value={organisation}
                    onChange={(id) => change(() => setOrganisation(id))}
                  />
                </div>
                {organisation === undefined ? (
                  <p className="zs-soft">{t('quota.drawer.choose')}</p>
                ) : (
                  <OfOrganisation key={organisation} id={organisation} onDirty={setDirty} />
                )}
              </>
            ),
          },
          { key: 'defaults', label: t('quota.drawer.tab.defaults'), children: <Defaults onDirty={setDirty} /> },
        ]}
      />
      <LeaveDialog
        open={leaving !== null}
        onLeave={() => {
          setLeaving(null)
          leaving?.()
        }}
        onStay={() => setLeaving(null)}
      />
    </Drawer>
  )
}

function OfOrganisation({ id, onDirty }: { readonly id: string; readonly onDirty: (dirty: boolean) => void }) {
  const quota = useCall(quotas.get, { params: { bp_id: id } }, { silent: true })
  const defaults = useCall(quotas.defaults, {}, { silent: true })
  const failed = quota.error ?? defaults.error
  if (quota.data === undefined || defaults.data === undefined) {
    return failed === null ? (
      <Skeleton active paragraph={{ rows: 10 }} />
    ) : (
      <ErrorPanel error={failed} onRetry={() => void Promise.all([quota.refetch(), defaults.refetch()])} />
    )
  }
  return <OrganisationForm quota={quota.data} defaults={defaults.data.limits} onDirty={onDirty} />
}

function OrganisationForm({
  quota,
  defaults,
  onDirty,
}: {
  readonly quota: Quota
  readonly defaults: Partial<Record<QuotaResource, number | null>>
  readonly onDirty: (dirty: boolean) => void
}) {
  const { t } = useTranslation('nextstackCompute')
  const set = useChange(quotas.set, { invalidates: touched, silent: true })
  const used = Object.fromEntries(quota.lines.map((line) => [line.resource, line.used]))
  return (
    <LimitsForm
      note={t('quota.drawer.ownNote')}
      initial={Object.fromEntries(quota.lines.map((line) => [line.resource, valueOf(line)]))}
      used={used}
      defaults={defaults}
      saving={set.isPending}
      onDirty={onDirty}
      onSave={async (values) => {
        await set.mutateAsync({ params: { bp_id: quota.bp_id }, body: { limits: limitsOf(values) } })
        notify('success', t('quota.drawer.savedOrganisation', { name: quota.bp_name }))
      }}
    />
  )
}

function Defaults({ onDirty }: { readonly onDirty: (dirty: boolean) => void }) {
  const { t } = useTranslation('nextstackCompute')
  const { data, error, refetch } = useCall(quotas.defaults, {}, { silent: true })
  const set = useChange(quotas.setDefaults, { invalidates: touched, silent: true })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 10 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <LimitsForm
      note={t('quota.drawer.defaultsNote')}
      initial={Object.fromEntries(quotaResources.map((resource) => [resource, valueOf({ limit: data.limits[resource] ?? null, own: true })]))}
      saving={set.isPending}
      onDirty={onDirty}
      onSave={async (values) => {
        await set.mutateAsync({ body: { limits: limitsOf(values) } })
        notify('success', t('quota.drawer.savedDefaults'))
      }}
    />
  )
}

function LimitsForm({
  note,
  initial,
  used,
  defaults,
  saving,
  onDirty,
  onSave,
}: {
  readonly note: string
  readonly initial: LimitValues
  readonly used?: Partial<Record<QuotaResource, number>>
  readonly defaults?: Partial<Record<QuotaResource, number | null>>
  readonly saving: boolean
  readonly onDirty: (dirty: boolean) => void
  readonly onSave: (values: LimitValues) => Promise<void>
}) {
  const { t } = useTranslation('nextstackCompute')
  const [values, setValues] = useState(initial)
  const [wrong, setWrong] = useState<ReturnType<typeof wrongLimits>>({})
  const [refused, setRefused] = useState<string | null>(null)
  const save = async (): Promise<void> => {
    const found = wrongLimits(values)
    setWrong(found)
    setRefused(null)
    if (Object.keys(found).length > 0) return
    try {
      await onSave(values)
      onDirty(false)
    } catch (error) {
      setRefused(errorText(toApiError(error)))
    }
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <p className="zs-soft">{note}</p>
      <LimitFields
        values={values}
        wrong={wrong}
        {...(used !== undefined && { used })}
        {...(defaults !== undefined && { defaults })}
        onChange={(next) => {
          setValues(next)
          onDirty(true)
        }}
      />
      {refused !== null && <Alert type="error" showIcon title={t('form.refused', { reason: refused })} />}
      <div className="zs-form-foot">
        <Button type="primary" htmlType="submit" loading={saving}>
          {t('quota.drawer.save')}
        </Button>
      </div>
    </form>
  )
}
