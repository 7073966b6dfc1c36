import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import Skeleton from 'antd/es/skeleton'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { licences, type Licence } from '@zhisuan/contract/sys/sys'
import { useCall } from '../../api/hooks.ts'
import { copyText } from '../../kit/copy.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PageStatus } from '../../kit/PageHead.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { AllowanceBar, DaysLeft } from './LicenceBars.tsx'
import './licence.css'
import { LicenceImport } from './LicenceImport.tsx'
import { allowanceOf, licenceState, licenceTone, type LicenceState } from '../../kit/licenceState.ts'

const refreshMs = 30_000

/** The licence in force, what is used of it, and the next one. */
export default function LicencePage() {
  const query = useCall(licences.get, {}, { refreshMs, silent: true })
  const { data: licence, error, refetch } = query
  if (licence === undefined) {
    return (
      <div className="zs-card">
        {error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}
      </div>
    )
  }
  // As of the last reading, which is seconds ago: what counts here is days.
  const now = query.dataUpdatedAt
  return <LicenceInForce licence={licence} state={licenceState(licence, now)} now={now} />
}

function LicenceInForce({ licence, state, now }: { readonly licence: Licence; readonly state: LicenceState; readonly now: number }) {
  const { t } = useTranslation('licence')
  return (
    <div className="licence-page">
      <PageStatus>
        <span className="licence-state">
          <StatusTag tone={licenceTone[state.kind]}>{t(`state.${state.kind}`)}</StatusTag>
          {licence.kind === 'evaluation' && <span className="zs-label">{t('kind.evaluation')}</span>}
        </span>
      </PageStatus>
      {state.kind !== 'valid' && <Alert type={state.kind === 'expired' ? 'error' : 'warning'} showIcon title={t(`${state.kind}Note`)} className="zs-above" />}
      <div className="licence-top">
        <section className="zs-card" aria-labelledby="licence-title">
          <h2 id="licence-title">{t('title')}</h2>
          <Descriptions
            size="small"
            column={1}
            items={[
              { key: 'kind', label: t('kindLabel'), children: t(`kind.${licence.kind}`) },
              { key: 'customer', label: t('customer'), children: licence.customer === '' ? t('noCustomer') : licence.customer },
              { key: 'id', label: t('id'), children: licence.kind === 'evaluation' ? t('noId') : licence.id },
              { key: 'start', label: t('start'), children: format.dateTime(licence.start_timestamp) },
              { key: 'end', label: t('end'), children: format.dateTime(licence.end_timestamp) },
            ]}
          />
          <p className="licence-help">
            <Link to={paths.help.detail('licence')}>{t('help')}</Link>
          </p>
        </section>
        <section className="zs-card" aria-labelledby="licence-usage">
          <h2 id="licence-usage">{t('usage')}</h2>
          <DaysLeft state={state} />
          <AllowanceBar label={t('nodes')} allowance={allowanceOf(licence.nodes_used, licence.nodes)} />
          <AllowanceBar label={t('cores')} allowance={allowanceOf(licence.cores_used, licence.cores)} />
          <p className="licence-note">{t('usageNote')}</p>
        </section>
      </div>
      <section className="zs-card" aria-labelledby="licence-import">
        <h2 id="licence-import">{t('import')}</h2>
        <p className="licence-note">{t('importNote')}</p>
        <LicenceImport licence={licence} now={now} />
      </section>
      <Identity installationId={licence.installation_id} />
    </div>
  )
}

function Identity({ installationId }: { readonly installationId: string }) {
  const { t } = useTranslation('licence')
  const { data, error, refetch } = useCall(licences.publicKey, {}, { silent: true })
  return (
    <section className="zs-card" aria-labelledby="licence-identity">
      <h2 id="licence-identity">{t('identity')}</h2>
      <p className="licence-note">{t('identityNote')}</p>
      <Copyable label={t('installation')} text={installationId} copyLabel={t('copyInstallation')} />
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <Copyable label={t('publicKey')} text={data?.pubkey.trim() ?? null} copyLabel={t('copyKey')} />
      )}
    </section>
  )
}

/** @param text null while it loads */
function Copyable({ label, text, copyLabel }: { readonly label: string; readonly text: string | null; readonly copyLabel: string }) {
  const { t } = useTranslation('licence')
  return (
    <div className="licence-copyable">
      <div className="licence-label">{label}</div>
      <div className="licence-copy">
        <pre tabIndex={0} aria-label={label}>
          {text ?? '…'}
        </pre>
        <Button icon={<CopyOutlined />} aria-label={copyLabel} disabled={text === null} onClick={() => void copyText(text ?? '')}>
          {t('copy')}
        </Button>
      </div>
    </div>
  )
}
