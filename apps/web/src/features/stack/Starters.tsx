import { starterKeys } from '@zhisuan/contract/aos/starters'
import { Link } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { stackPaths } from './stackPaths.ts'
import './stack.css'

/** Templates to begin with: each opens the form of a new one, filled in. */
export function Starters() {
  const { t } = useTranslation('application')
  return (
    <section aria-labelledby="starters">
      <h2 id="starters" className="zs-heading">
        {t('starter.title')}
      </h2>
      <p className="zs-soft">{t('starter.note')}</p>
      <ul className="as-starters">
        {starterKeys.map((key) => (
          <li key={key}>
            <Link className="zs-text-link" to={stackPaths.starter(key)}>
              {t(`starter.of.${key}.name`)}
            </Link>
            <p className="zs-soft">{t(`starter.of.${key}.note`)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
