import { useTranslation } from '../../i18n.ts'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { GrantTable } from './GrantTable.tsx'
import { WhoTool } from './WhoTool.tsx'
import { WhyTool } from './WhyTool.tsx'

/** Who has which policies, and what comes of it. */
export default function Authorize() {
  const { t } = useTranslation('iam')
  return (
    <DetailTabs
      tabs={[
        { key: 'grants', label: t('grant.tab.grants'), content: <GrantTable /> },
        { key: 'who', label: t('grant.tab.who'), content: <WhoTool /> },
        { key: 'why', label: t('grant.tab.why'), content: <WhyTool /> },
      ]}
    />
  )
}
