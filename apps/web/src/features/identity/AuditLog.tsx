import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import type { ResponseOf } from '@zhisuan/contract/define'
import { audits, type auditFormats } from '@zhisuan/contract/iam/audit'
import { users } from '@zhisuan/contract/ums/user'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { copyText } from '../../kit/copy.ts'
import { MomentInput } from '../../kit/dates.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import { saveFrom } from '../../kit/save.ts'
import { OneActionSelect, UserSelect } from '../../kit/identitySelects.tsx'
import { AuditTable } from './AuditTable.tsx'
import { OrganisationSelect } from '../../kit/OrganisationSelect.tsx'
import { useNamedOrganisation } from '../../kit/useOrganisationFilter.tsx'
import './identity.css'
import '../../kit/table.css'
import { useKeeping } from '../../session/keeping.ts'
import { useMayCall } from '../../session/user.ts'

/** Of the address: those that stand above the list, and those of its own bar. */
const above = ['call', 'actor_id', 'bp_id', 'from', 'to'] as const
const all = [...above, 'keyword', 'object_id', 'refused'] as const

const given = <Key extends string>(search: URLSearchParams, keys: readonly Key[]): Partial<Record<Key, string>> => {
  const found: Partial<Record<Key, string>> = {}
  for (const key of keys) {
    const value = search.get(key)
    if (value !== null && value !== '') found[key] = value
  }
  return found
}

/** Who did what, on the whole platform or in one's own organisation: searched, saved as a file, and proved to be whole. */
export default function AuditLog() {
  const { t } = useTranslation('identity')
  const { everybody } = useKeeping()
  const mayVerify = useMayCall(audits.verify)
  const [search, setSearch] = useSearchParams()
  const [verdict, setVerdict] = useState<ResponseOf<typeof audits.verify> | null>(null)
  const save = useChange(audits.export, { onDone: ({ path }) => saveFrom(path) })
  const verify = useChange(audits.verify, { onDone: setVerdict, invalidates: [audits.list] })
  // What is in the address is judged by the server.
  const query = given(search, above)
  const set = (key: (typeof above)[number], value: string | undefined): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        next.delete('page')
        if (value === undefined || value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: true },
    )
  const exportAs = (format: (typeof auditFormats)[number]): void => save.mutate({ body: { format, ...(given(search, all) as object) } })
  const { data: actor } = useCall(users.get, { params: { id: query.actor_id ?? '' } }, { silent: true, enabled: query.actor_id !== undefined })
  const { known } = useNamedOrganisation()
  return (
    <div className="zs-card">
      <div className="zs-buttons identity-filters">
        <span className="zs-filter-organisation">
          <OneActionSelect label={t('audit.action')} value={query.call} onChange={(id) => set('call', id)} />
        </span>
        <span className="zs-filter-organisation">
          <UserSelect label={t('audit.actor')} value={query.actor_id} known={actor} onChange={(id) => set('actor_id', id)} />
        </span>
        {everybody && (
          <span className="zs-filter-organisation">
            <OrganisationSelect label={t('audit.organisation')} value={query.bp_id} known={known} onChange={(id) => set('bp_id', id)} />
          </span>
        )}
        {(['from', 'to'] as const).map((end) => (
          <span className="zs-labelled" key={end}>
            <label htmlFor={`audit-${end}`}>{t(`audit.${end}`)}</label>
            <MomentInput id={`audit-${end}`} value={query[end] ?? ''} onChange={(moment) => set(end, moment)} />
          </span>
        ))}
      </div>
      <AuditTable
        query={query}
        toolbar={
          <>
            {mayVerify && (
              <Button type="primary" loading={verify.isPending} onClick={() => verify.mutate({})}>
                {t('audit.verify')}
              </Button>
            )}
            <Button loading={save.isPending} onClick={() => exportAs('csv')}>
              {t('audit.exportCsv')}
            </Button>
            <Button loading={save.isPending} onClick={() => exportAs('jsonl')}>
              {t('audit.exportJson')}
            </Button>
          </>
        }
      />
      {verdict !== null && <VerdictDialog verdict={verdict} onClose={() => setVerdict(null)} />}
    </div>
  )
}

function VerdictDialog({ verdict, onClose }: { readonly verdict: ResponseOf<typeof audits.verify>; readonly onClose: () => void }) {
  const { t } = useTranslation('identity')
  useReturnFocus()
  const { intact, count, head, first_broken } = verdict
  return (
    <Modal
      open
      title={t('audit.verifyTitle')}
      onCancel={onClose}
      width={560}
      footer={[
        <Button key="copy" onClick={() => void copyText(`${head.number} ${head.hash}`)}>
          {t('audit.copyHash')}
        </Button>,
        <Button key="close" type="primary" onClick={onClose}>
          {t('audit.close')}
        </Button>,
      ]}
    >
      {intact ? (
        <Alert type="success" showIcon title={t('audit.intact', { count })} />
      ) : (
        <Alert
          type="error"
          showIcon
          title={t('audit.broken', { number: first_broken ?? head.number })}
          description={t('audit.brokenNote', { number: first_broken ?? head.number })}
        />
      )}
      <dl className="identity-facts">
        <dt>{t('audit.headNumber')}</dt>
        <dd className="zs-number">{head.number}</dd>
        <dt>{t('audit.headHash')}</dt>
        <dd className="zs-code">{head.hash}</dd>
      </dl>
      <p className="zs-soft">{t('audit.headNote')}</p>
    </Modal>
  )
}
