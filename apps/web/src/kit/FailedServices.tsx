import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import type { Problem } from '@zhisuan/contract/problem'
import { useTranslation } from '../i18n.ts'
import { errorText } from '../api/toasts.ts'
import { FailedEngine } from './ErrorPanel.tsx'

/**
 * Says which services of the cloud failed while the others answered: what they would have told is missing on the page.
 * @param onRetry asks again; left out where that would lose what somebody has filled in
 */
export function FailedServices({ failed, onRetry }: { readonly failed: readonly Problem[]; readonly onRetry?: () => void }) {
  const { t } = useTranslation('kit')
  return failed.map((problem) => (
    <Alert
      key={`${problem.engine?.service} ${problem.code}`}
      className="zs-above"
      type="warning"
      showIcon
      title={t('error.part')}
      {...(onRetry !== undefined && {
        action: (
          <Button size="small" onClick={onRetry}>
            {t('error.retry')}
          </Button>
        ),
      })}
      description={
        <>
          {errorText({ status: 502, ...problem })}
          {problem.engine !== undefined && <FailedEngine engine={problem.engine} />}
        </>
      }
    />
  ))
}
