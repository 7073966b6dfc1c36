import { useTranslation } from '../../i18n.ts'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { AlarmTable } from './AlarmTable.tsx'
import { ReceiverTable } from './ReceiverTable.tsx'
import { SubscriptionTable } from './SubscriptionTable.tsx'
import { WindowTable } from './WindowTable.tsx'

/** What is watched, and who is told. */
export default function AlarmManagement() {
  const { t } = useTranslation('operations')
  return (
    <DetailTabs
      tabs={[
        { key: 'rules', label: t('alarm.rules'), content: <AlarmTable /> },
        { key: 'receivers', label: t('receiver.title'), content: <ReceiverTable /> },
        { key: 'subscriptions', label: t('subscription.title'), content: <SubscriptionTable /> },
        { key: 'windows', label: t('window.title'), content: <WindowTable /> },
      ]}
    />
  )
}
