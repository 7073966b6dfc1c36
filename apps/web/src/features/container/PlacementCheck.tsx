import CheckCircleFilled from '@ant-design/icons/es/icons/CheckCircleFilled'
import WarningFilled from '@ant-design/icons/es/icons/WarningFilled'
import { containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from 'react-i18next'
import { useCall } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { placementOf, specOf, type DeployValues } from './specForm.ts'
import { useSettled } from '../../kit/useSettled.ts'

/** Typing goes on for a while: it is asked about when it rests. */
const restMs = 600
/** Others take ports too. */
const againMs = 10_000

/** Which nodes a deployment would go to, and what is in its way there, as it is typed. */
export function PlacementCheck({
  values: { spec, placement },
  hint,
}: {
  readonly values: Pick<DeployValues, 'spec' | 'placement'>
  /** What is said before there is anything to check. */
  readonly hint?: string
}) {
  const { t } = useTranslation('container')
  // Rows that are not typed to their end are not asked about.
  const ports = spec.ports.filter((row) => row?.host_port != null && row.container_port != null)
  const { gpus, ports: asked } = specOf({ ...spec, ports })
  const written = useSettled(JSON.stringify({ spec: { ports: asked, gpus }, placement: placementOf(placement) }), restMs)
  // As it was written just above.
  const body = JSON.parse(written) as BodyInput<typeof containers.check>
  const whole = containers.check.body.safeParse(body)
  const { data, error, isPlaceholderData } = useCall(containers.check, { body }, { silent: true, enabled: whole.success, refreshMs: againMs })
  const nodes = whole.success ? (data?.nodes ?? []) : []
  const unfit = nodes.filter(({ problems }) => problems.length > 0).length
  const said = (): string => {
    if (!whole.success) return hint ?? t('check.empty')
    if (error !== null) return errorText(error)
    if (data === undefined) return t('check.running')
    if (nodes.length === 0) return t('check.none')
    return unfit === 0 ? t('check.summary', { fit: nodes.length }) : t('check.problems', { count: unfit })
  }
  return (
    <div className="zs-card" aria-busy={isPlaceholderData}>
      <h2>{t('check.title')}</h2>
      <p role="status" className={whole.success && (error !== null || unfit > 0) ? 'zs-bad' : 'zs-soft'}>
        {said()}
      </p>
      {(error === null || !whole.success) && (
        <ul className="cn-check">
          {nodes.map(({ id, name, problems }) => (
            <li key={id}>
              {problems.length === 0 ? (
                <CheckCircleFilled className="cn-good" aria-label={t('check.fits')} />
              ) : (
                <WarningFilled className="zs-bad" aria-hidden />
              )}
              <span>
                <span className="zs-cut" title={name}>
                  {name}
                </span>
                {problems.map((problem) => (
                  <span key={problem} className="zs-bad cn-problem">
                    {problem}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
