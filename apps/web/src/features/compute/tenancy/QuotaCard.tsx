import Button from 'antd/es/button'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import { quotaKinds, quotaServices, type QuotaKind } from '@zhisuan/contract/compute/project'
import { useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { FailedServices } from '../../../kit/FailedServices.tsx'
import { QuotaBars } from './QuotaBars.tsx'
import { useQuotas } from './quota.ts'
import './tenancy.css'

/**
 * What the asker's project on a cloud uses and may have; of several they choose one. Who runs the platform sees
 * everybody's things in lists, and each project's quotas beside the project.
 * @param about what the page is about: all else is shown on demand
 */
export function QuotaCard({ cloudId, about }: { readonly cloudId: string | null; readonly about: readonly QuotaKind[] }) {
  return useIsPlatform() ? null : <Card cloudId={cloudId} about={about} />
}

function Card({ cloudId, about }: { readonly cloudId: string | null; readonly about: readonly QuotaKind[] }) {
  const { t } = useTranslation('computeTenancy')
  const title = useId()
  const { data, error, refetch } = useQuotas(cloudId)
  const [chosen, setChosen] = useState<string | null>(null)
  const [whole, setWhole] = useState(false)
  const first = data?.items.find(({ project_id }) => project_id === null) ?? data?.items[0]
  const project = data?.items.find(({ keystone_project_id }) => keystone_project_id === chosen) ?? first
  const seen = project ?? data?.fresh
  return (
    <section className="zs-card cq-card" aria-labelledby={title}>
      <div className="cq-head">
        <h2 className="zs-heading" id={title}>
          {t('quota.card')}
        </h2>
        {data !== undefined && data.items.length > 1 && (
          <Select
            size="small"
            className="cq-whose"
            aria-label={t('quota.whose')}
            value={project?.keystone_project_id ?? null}
            options={data.items.map(({ keystone_project_id, name }) => ({ value: keystone_project_id, label: name }))}
            onChange={(id: string) => setChosen(id)}
          />
        )}
        {seen !== undefined && (
          <Button type="link" size="small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {t(whole ? 'quota.fewer' : 'quota.all')}
          </Button>
        )}
      </div>
      {seen === undefined ? (
        error === null ? (
          <Skeleton active title={false} paragraph={{ rows: 2 }} aria-label={t('loading')} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          {project === undefined && <p className="zs-soft">{t('quota.fresh')}</p>}
          <FailedServices failed={seen.failed} onRetry={() => void refetch()} />
          {whole ? (
            quotaServices.map((service) => (
              <section key={service} aria-label={t(`quota.service.${service}`)}>
                <h3 className="cq-service">{t(`quota.service.${service}`)}</h3>
                <QuotaBars kinds={seen.kinds} shown={quotaKinds[service]} />
              </section>
            ))
          ) : (
            <QuotaBars kinds={seen.kinds} shown={about} />
          )}
        </>
      )}
    </section>
  )
}
