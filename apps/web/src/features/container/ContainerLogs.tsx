import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Segmented from 'antd/es/segmented'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { saveFrom } from '../../kit/save.ts'
import { whyNotContainer } from './containerRules.ts'
import { FollowedLog } from './FollowedLog.tsx'
import type { LogLook } from './logLines.ts'
import { SearchedLog } from './SearchedLog.tsx'
import { tellError } from '../../api/tellError.ts'

/** What a container prints: as it comes, or searched from its end; the whole is a download. */
export function ContainerLogs({ container }: { readonly container: Container }) {
  const { t } = useTranslation('container')
  const [searching, setSearching] = useState(false)
  const [look, setLook] = useState<LogLook>({ wrap: true, times: true })
  const link = useChange(containers.logLink)
  const refused = whyNotContainer(t, 'logs', container)
  if (refused !== null) return <EmptyState title={refused} />
  return (
    <>
      <div className="zs-bar">
        <Segmented
          aria-label={t('log.mode')}
          value={searching ? 'search' : 'follow'}
          options={[
            { value: 'follow', label: t('log.follow') },
            { value: 'search', label: t('log.search') },
          ]}
          onChange={(mode) => setSearching(mode === 'search')}
        />
        <Checkbox checked={look.wrap} onChange={(event) => setLook({ ...look, wrap: event.target.checked })}>
          {t('log.wrap')}
        </Checkbox>
        <Checkbox checked={look.times} onChange={(event) => setLook({ ...look, times: event.target.checked })}>
          {t('log.times')}
        </Checkbox>
        <Button
          loading={link.isPending}
          onClick={() =>
            link.mutate({ params: { id: container.id }, body: { how: 'download' } }, { onSuccess: ({ path }) => saveFrom(path), onError: tellError })
          }
        >
          {t('log.download')}
        </Button>
      </div>
      {searching ? <SearchedLog container={container} look={look} /> : <FollowedLog key={container.container_id ?? ''} container={container} look={look} />}
    </>
  )
}
