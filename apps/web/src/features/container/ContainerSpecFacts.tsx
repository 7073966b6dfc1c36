import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import type { ContainerSpec } from '@zhisuan/contract/cis/container'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import { paths, withQuery } from '../../paths.ts'
import { lineOf } from './commandLine.ts'
import { portText } from '../../kit/containerText.ts'

const hidden = '••••••'

/** What a container was made from. Values of variables are secrets as often as not: they are shown when somebody asks. */
export function ContainerSpecFacts({ spec }: { readonly spec: ContainerSpec | null }) {
  const { t } = useTranslation('container')
  const [values, setValues] = useState(false)
  if (spec === null) return <EmptyState title={t('spec.unknown')} />
  const fact = (key: string, label: string, children: ReactNode) => ({ key, label, children })
  const code = (text: string, none: string) => (text === '' ? none : <span className="zs-code">{text}</span>)
  const { health } = spec
  return (
    <Descriptions
      size="small"
      bordered
      column={1}
      items={[
        fact('image', t('field.image'), code(spec.image, '')),
        fact('command', t('field.command'), code(lineOf(spec.command), t('spec.own'))),
        fact('entrypoint', t('field.entrypoint'), code(lineOf(spec.entrypoint), t('spec.own'))),
        fact('dir', t('field.workingDir'), code(spec.working_dir ?? '', t('spec.own'))),
        fact(
          'env',
          t('field.env'),
          <Lines none={t('spec.none')} lines={spec.env.map(({ name, value }) => `${name}=${values ? value : hidden}`)}>
            {spec.env.length > 0 && (
              <Button type="link" size="small" aria-pressed={values} onClick={() => setValues(!values)}>
                {values ? t('spec.hide') : t('spec.show')}
              </Button>
            )}
          </Lines>,
        ),
        fact('ports', t('field.ports'), <Lines none={t('spec.none')} lines={spec.ports.map(portText)} />),
        fact('mounts', t('field.mounts'), <Mounts mounts={spec.mounts} />),
        fact('restart', t('field.restart'), t(`restart.${spec.restart}`)),
        fact('cpu', t('field.cpu'), spec.cpu_limit === null ? t('field.unlimited') : format.number(spec.cpu_limit)),
        fact('memory', t('field.memory'), spec.memory_limit_bytes === null ? t('field.unlimited') : format.bytes(spec.memory_limit_bytes)),
        fact('gpus', t('field.gpus'), format.number(spec.gpus)),
        fact(
          'health',
          t('field.health'),
          health === null ? (
            t('spec.none')
          ) : (
            <>
              <span className="zs-code">{health.command}</span>
              <div className="zs-soft">{t('spec.health', { interval: health.interval_seconds, timeout: health.timeout_seconds, retries: health.retries })}</div>
            </>
          ),
        ),
      ]}
    />
  )
}

function Lines({ lines, none, children }: { readonly lines: readonly string[]; readonly none: string; readonly children?: ReactNode }) {
  if (lines.length === 0) return none
  return (
    <>
      <ul className="zs-list zs-code">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {children}
    </>
  )
}

function Mounts({ mounts }: Pick<ContainerSpec, 'mounts'>) {
  const { t } = useTranslation('container')
  if (mounts.length === 0) return t('spec.none')
  return (
    <ul className="zs-list">
      {mounts.map((mount) => (
        <li key={mount.path}>
          {t(`field.mountTypes.${mount.type}`)}{' '}
          {mount.type === 'config' ? (
            <Link to={withQuery(paths.container.configuration.detail(), { id: mount.config_id })} className="zs-text-link">
              {t('config.edit')}
            </Link>
          ) : (
            <span className="zs-code">{mount.type === 'volume' ? mount.name : mount.host_path}</span>
          )}
          {' → '}
          <span className="zs-code">{mount.path}</span>
          {mount.type !== 'config' && mount.read_only && <span className="zs-soft"> {t('spec.readOnly')}</span>}
        </li>
      ))}
    </ul>
  )
}
