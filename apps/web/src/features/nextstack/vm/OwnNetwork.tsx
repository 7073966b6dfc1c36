import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import { errors } from '@zhisuan/contract/errors'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { useChange } from '../../../api/hooks.ts'
import { toApiError } from '../../../api/client.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { useTranslation } from '../../../i18n.ts'
import { freeRanges } from './freeRange.ts'

const tries = 8
const rangeTaken: readonly number[] = [errors.cidrTaken.code, errors.cidrUnavailable.code]

/** For an organisation without a network of its own on the cloud: makes one, and chooses it. */
export function OwnNetwork({
  cloudId,
  taken,
  onMade,
}: {
  readonly cloudId: string
  readonly taken: readonly (string | null)[]
  readonly onMade: (id: string) => Promise<void>
}) {
  const { t } = useTranslation('nextstack')
  const create = useChange(vpcs.create, { invalidates: [vpcs.list], silent: true })
  const make = async (): Promise<void> => {
    for (const [index, cidr] of freeRanges(taken).slice(0, tries).entries()) {
      try {
        const made = await create.mutateAsync({ body: { cloud_id: cloudId, name: t('add.networkOwnName'), cidr } })
        await onMade(made.id)
        return
      } catch (thrown) {
        const error = toApiError(thrown)
        // Another organisation has it, which is not seen from here.
        if (index + 1 < tries && rangeTaken.includes(error.code)) continue
        notify('error', errorText(error))
        return
      }
    }
  }
  return (
    <Alert
      className="zs-above"
      type="info"
      showIcon
      title={t('add.networkOwn')}
      action={
        <Button size="small" type="primary" loading={create.isPending} onClick={() => void make()}>
          {t('add.networkOwnMake')}
        </Button>
      }
    />
  )
}
