import { integrations, monitorComponents } from '@zhisuan/contract/omc/monitor'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionButton } from '../../kit/actions.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { Link } from 'react-router'
import { paths, withQuery } from '../../paths.ts'
import { statusTones, templateNames, templates } from './monitorRules.ts'
import './operations.css'

/** What can be installed, what it is for, and where it is already. */
export default function ComponentCenter() {
  const { t } = useTranslation('operations')
  const { data, error, refetch } = useCall(integrations.list, { query: { page_size: 1000 } }, { silent: true, refreshMs: 10_000 })
  if (data === undefined && error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <div className="om-components">
      {monitorComponents.map((component) => {
        const there = (data?.items ?? []).filter((one) => one.component === component)
        return (
          <section key={component} className="zs-card" aria-labelledby={`component-${component}`}>
            <h2 className="zs-title" id={`component-${component}`}>
              {t(`component.names.${component}`)}
            </h2>
            <p className="zs-soft">{t(`component.about.${component}`)}</p>
            <div className="zs-buttons">
              <ActionButton
                action={{ key: 'install', call: integrations.create, label: t('component.installOne'), href: paths.operations.component.install(component) }}
                look="primary"
              />
              {component === 'prometheus' && (
                <ActionButton
                  action={{
                    key: 'register',
                    call: integrations.create,
                    label: t('component.register'),
                    href: withQuery(paths.operations.component.install(component), { way: 'registered' }),
                  }}
                  look="default"
                />
              )}
            </div>
            {component === 'prometheus' && (
              <>
                <h3 className="om-small">{t('component.templates')}</h3>
                <ul className="om-templates">
                  {templateNames.map((name) => (
                    <li key={name}>
                      <Link to={paths.operations.component.installTemplate(component, name)}>{t(`component.template.${name}`)}</Link>
                      <span className="zs-soft">
                        {t('component.templateNote', { seconds: templates[name].scrape_interval_seconds, days: templates[name].retention_days })}
                      </span>
                    </li>
                  ))}
                </ul>
              </>
            )}
            <h3 className="om-small">{t('component.there', { count: there.length })}</h3>
            {there.length === 0 ? (
              <p className="zs-soft">{t(`component.none.${component}`)}</p>
            ) : (
              <ul className="om-there">
                {there.map(({ id, name, node, url, status }) => (
                  <li key={id}>
                    <Link to={paths.operations.component.installation(id)}>{name}</Link>
                    <span className="zs-soft">{node?.name ?? url}</span>
                    <StatusTag tone={statusTones[status]}>{t(`component.status.${status}`)}</StatusTag>
                  </li>
                ))}
              </ul>
            )}
          </section>
        )
      })}
    </div>
  )
}
