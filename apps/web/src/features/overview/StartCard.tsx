import CheckCircleFilled from '@ant-design/icons/es/icons/CheckCircleFilled'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import './overview.css'

/** A fresh installation: what to do first, and how far one is. */
export function StartCard({ usableClouds, platform }: { readonly usableClouds: number; readonly platform: boolean }) {
  const { t } = useTranslation('overview')
  const ready = usableClouds > 0
  return (
    <section className="zs-card" aria-labelledby="overview-start">
      <h2 id="overview-start">{t('start.title')}</h2>
      <ol className="zs-list overview-start">
        <li>
          <Mark number={1} done={ready} />
          <div>
            <h3>{!ready && platform ? <Link to={paths.platform.clouds()}>{t('start.cloud')}</Link> : t('start.cloud')}</h3>
            <p className="zs-soft">{ready ? t('start.cloudDone', { count: usableClouds }) : platform ? t('start.cloudText') : t('start.cloudTenant')}</p>
          </div>
        </li>
        <li>
          <Mark number={2} done={false} />
          <div>
            <h3>{ready ? <Link to={paths.nextstack.vm.add()}>{t('start.vm')}</Link> : t('start.vm')}</h3>
            <p className="zs-soft">{ready ? t('start.vmText') : t('start.vmWait')}</p>
          </div>
        </li>
        <li>
          <Mark number={3} done={false} />
          <div>
            <h3>
              <Link to={paths.container.node.add()}>{t('start.node')}</Link>
            </h3>
            <p className="zs-soft">{t('start.nodeText')}</p>
          </div>
        </li>
        <li>
          <Mark number={4} done={false} />
          <div>
            <h3>
              <Link to={paths.help.list()}>{t('start.learn')}</Link>
            </h3>
            <p className="zs-soft">{t('start.learnText')}</p>
          </div>
        </li>
      </ol>
    </section>
  )
}

function Mark({ number, done }: { readonly number: number; readonly done: boolean }) {
  const { t } = useTranslation('overview')
  return done ? (
    <CheckCircleFilled className="overview-done" role="img" aria-label={t('start.done')} />
  ) : (
    <span className="overview-number" aria-hidden="true">
      {number}
    </span>
  )
}
