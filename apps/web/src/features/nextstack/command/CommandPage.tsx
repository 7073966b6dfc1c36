import Segmented from 'antd/es/segmented'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { PageActions } from '../../../kit/PageHead.tsx'
import VmCommand from '../vm/VmCommand.tsx'
import { BatchCommand } from './BatchCommand.tsx'
import { isBatch } from './commandState.ts'

/** Two ways into many instances at once: terminals beside each other, or one script in all of them. */
export default function CommandPage() {
  const { t } = useTranslation('nextstackCompute')
  const [search, setSearch] = useSearchParams()
  const batch = isBatch(search)
  return (
    <>
      <PageActions>
        <Segmented
          aria-label={t('command.mode.label')}
          value={batch ? 'batch' : 'terminal'}
          options={[
            { value: 'terminal', label: t('command.mode.terminal') },
            { value: 'batch', label: t('command.mode.batch') },
          ]}
          // Going back leads to the other way again.
          onChange={(mode) => setSearch(mode === 'batch' ? { mode: 'batch' } : {})}
        />
      </PageActions>
      {batch ? <BatchCommand /> : <VmCommand />}
    </>
  )
}
