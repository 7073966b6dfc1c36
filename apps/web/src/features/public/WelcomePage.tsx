import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { isBuilt } from '../../routes.ts'
import { useBrand } from '../../session/brand.ts'
import { landing } from '../../session/guard.ts'
import { personOf, useCurrentUser } from '../../session/user.ts'
import { Abacus } from './Abacus.tsx'
import './public.css'
import { useSystemInfo } from '../../session/useSystemInfo.ts'

const abilities = ['clouds', 'instances', 'terminal', 'metrics', 'network', 'edge', 'containers', 'history', 'tenancy'] as const
const steps = ['record', 'execute', 'observe', 'recover'] as const
const people = ['tenant', 'tenantAdmin', 'admin'] as const

/** What the platform is and can do now. Only what exists stands here. */
export default function WelcomePage() {
  const { t } = useTranslation('public')
  const user = useCurrentUser()
  const { data: info } = useSystemInfo()
  return (
    <div className="public-welcome">
      <section className="public-hero">
        <div>
          <p className="public-hero-over">{t('welcome.over')}</p>
          <h1 id="page-title" tabIndex={-1}>
            {t('slogan')}
          </h1>
          <p className="public-hero-text">{t('welcome.text', { brand: useBrand() })}</p>
          <p className="public-hero-actions">
            {user === null ? (
              <>
                <Link to={paths.login()} className="zs-button public-button-large">
                  {t('welcome.login')}
                </Link>
                {info !== undefined && info.register_mode !== 'closed' && (
                  <Link to={paths.register()} className="zs-button public-button-large zs-button-plain">
                    {t('welcome.register')}
                  </Link>
                )}
              </>
            ) : (
              <Link to={landing(personOf(user))} className="zs-button public-button-large">
                {t('welcome.console')}
              </Link>
            )}
            {isBuilt(paths.market.list.template) && (
              <Link to={paths.market.list()} className="public-hero-link">
                {t('welcome.market')}
              </Link>
            )}
          </p>
        </div>
        <Abacus />
      </section>

      <section className="public-band" aria-labelledby="abilities">
        <h2 id="abilities">{t('welcome.abilitiesTitle')}</h2>
        <dl className="public-abilities">
          {abilities.map((ability) => (
            <div key={ability}>
              <dt>{t(`welcome.abilities.${ability}.title`)}</dt>
              <dd>{t(`welcome.abilities.${ability}.text`)}</dd>
            </div>
          ))}
        </dl>
      </section>

      <section className="public-band public-band-tint" aria-labelledby="steps">
        <h2 id="steps">{t('welcome.stepsTitle')}</h2>
        <p className="public-band-lead">{t('welcome.stepsText')}</p>
        <ol className="public-steps">
          {steps.map((step) => (
            <li key={step}>
              <h3>{t(`welcome.steps.${step}.title`)}</h3>
              <p>{t(`welcome.steps.${step}.text`)}</p>
            </li>
          ))}
        </ol>
      </section>

      <section className="public-band" aria-labelledby="people">
        <h2 id="people">{t('welcome.peopleTitle')}</h2>
        <dl className="public-people">
          {people.map((one) => (
            <div key={one}>
              <dt>{t(`welcome.people.${one}.title`)}</dt>
              <dd>{t(`welcome.people.${one}.text`)}</dd>
            </div>
          ))}
        </dl>
        <p className="public-band-note">{t('welcome.honest')}</p>
      </section>
    </div>
  )
}
