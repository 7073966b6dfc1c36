import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import type { Licence } from '@zhisuan/contract/sys/sys'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { AllowanceBar, DaysLeft } from '../licence/LicenceBars.tsx'
import { allowanceOf, licenceState, licenceTone } from '../../kit/licenceState.ts'
import './overview.css'

/** The licence in short, for those who can renew it. */
export function LicenceCard({ licence, now }: { readonly licence: Licence; readonly now: number }) {
  const { t } = useTranslation(['overview', 'licence'])
  const state = licenceState(licence, now)
  return (
    <section className="zs-card" aria-labelledby="overview-licence">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-licence">
          {t('licence.title')}
        </h2>
        <StatusTag tone={licenceTone[state.kind]}>{t(`licence:state.${state.kind}`)}</StatusTag>
        {licence.kind === 'evaluation' && <span className="zs-label">{t('licence:kind.evaluation')}</span>}
        <Link to={paths.licence()}>{t('licence.detail')}</Link>
      </div>
      <DaysLeft state={state} />
      <AllowanceBar label={t('licence:nodes')} allowance={allowanceOf(licence.nodes_used, licence.nodes)} />
      <AllowanceBar label={t('licence:cores')} allowance={allowanceOf(licence.cores_used, licence.cores)} />
    </section>
  )
}
