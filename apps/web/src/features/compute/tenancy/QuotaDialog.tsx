import Checkbox from 'antd/es/checkbox'
import Form from 'antd/es/form'
import Modal from 'antd/es/modal'
import Skeleton from 'antd/es/skeleton'
import {
  isBytesKind,
  keystoneProjects,
  limitOf,
  quotaKinds,
  quotaServices,
  type KeystoneProject,
  type ProjectQuota,
  type QuotaKind,
} from '@zhisuan/contract/compute/project'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { NumberInput } from '../../../kit/NumberInput.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { amountText, keptKinds } from './quota.ts'
import type { Controlled } from '../../../kit/fields.tsx'
import './tenancy.css'
import '../compute.css'

/** A limit as it stands in the form: null for none, undefined while nothing is typed. */
type Limit = number | null | undefined
interface Values {
  limits: Partial<Record<QuotaKind, Limit>>
}
const gib = 2 ** 30

/** What a project may have at most, beside what it uses now. */
export function QuotaDialog(props: Dialog<{ cloudId: string; project: KeystoneProject }>) {
  const { t } = useTranslation('computeTenancy')
  const { cloudId, project, onClose } = props
  const { data, error, refetch } = useCall(keystoneProjects.quota, { params: { cloud_id: cloudId, id: project.id } }, { silent: true })
  if (data !== undefined) return <QuotaForm {...props} quota={data} />
  return (
    <Modal open title={t('quota.title', { name: project.name })} footer={null} onCancel={onClose} width={820}>
      {error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}
    </Modal>
  )
}

function QuotaForm({ cloudId, project, quota, onClose }: Dialog<{ cloudId: string; project: KeystoneProject; quota: ProjectQuota }>) {
  const { t } = useTranslation('computeTenancy')
  // What it was when the form was opened; what is used is looked at again where it is set.
  const [{ kinds, failed }] = useState(quota)
  const set = useChange(keystoneProjects.setQuota, { invalidates: [keystoneProjects.quota, keystoneProjects.mine], silent: true })
  const limits = Object.fromEntries(keptKinds(kinds).map((kind) => [kind, kinds[kind]?.limit])) as Values['limits']
  return (
    <FormDialog<Values>
      title={t('quota.title', { name: project.name })}
      okText={t('quota.save')}
      width={820}
      initialValues={{ limits }}
      doneText={t('quota.saved', { name: project.name })}
      onClose={onClose}
      onSubmit={async ({ limits: typed }) => {
        // Only what was changed, so that what another sets meanwhile stays.
        const changed = Object.fromEntries(
          keptKinds(kinds).flatMap((kind) => (typed[kind] === undefined || typed[kind] === limits[kind] ? [] : [[kind, typed[kind]]])),
        )
        if (Object.keys(changed).length > 0) await set.mutateAsync({ params: { cloud_id: cloudId, id: project.id }, body: { limits: changed } })
      }}
    >
      <FailedServices failed={failed} />
      {quotaServices.map((service) => {
        const shown = quotaKinds[service].filter((kind) => kinds[kind] !== undefined)
        return shown.length === 0 ? null : (
          <fieldset key={service} className="cp-part">
            <legend>{t(`quota.service.${service}`)}</legend>
            <div className="cq-fields">
              {shown.map((kind) => (
                <LimitItem key={kind} kind={kind} used={kinds[kind]?.used ?? 0} />
              ))}
            </div>
          </fieldset>
        )
      })}
    </FormDialog>
  )
}

function LimitItem({ kind, used }: { readonly kind: QuotaKind; readonly used: number }) {
  const { t } = useTranslation('computeTenancy')
  const judge = (value: Limit): string | false | null => {
    if (value === undefined) return t('quota.required')
    return wrongWith(limitOf(kind), value) ?? (value !== null && value < used && t('quota.belowUse', { used: amountText(kind, used) }))
  }
  return (
    <Form.Item name={['limits', kind]} label={t(`kinds.${kind}`)} extra={t('quota.usedNow', { used: amountText(kind, used) })} rules={[refusing(judge)]}>
      <LimitInput kind={kind} used={used} />
    </Form.Item>
  )
}

/** How much there may be, or that there may be any amount. A control of a form. */
function LimitInput({ kind, used, id, value, onChange }: Controlled<Limit, { kind: QuotaKind; used: number }>) {
  const { t } = useTranslation('computeTenancy')
  // What stood there comes back where a limit is wished again.
  const [before, setBefore] = useState(typeof value === 'number' ? value : used)
  const unit = isBytesKind(kind) ? gib : 1
  return (
    <div className="zs-buttons cq-limit">
      <NumberInput
        {...(id !== undefined && { id })}
        value={typeof value === 'number' ? value / unit : null}
        min={0}
        disabled={value === null}
        {...(value === null && { placeholder: t('quota.unlimited') })}
        {...(isBytesKind(kind) && { suffix: t('gib') })}
        onChange={(typed) => onChange?.(typed === null ? undefined : isBytesKind(kind) ? Math.round(typed * unit) : typed)}
      />
      <Checkbox
        aria-label={t('quota.unlimitedOf', { kind: t(`kinds.${kind}`) })}
        checked={value === null}
        onChange={({ target }) => {
          if (target.checked && typeof value === 'number') setBefore(value)
          onChange?.(target.checked ? null : before)
        }}
      >
        {t('quota.unlimited')}
      </Checkbox>
    </div>
  )
}
