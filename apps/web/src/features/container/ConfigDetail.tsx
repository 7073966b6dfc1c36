import { configs } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { Gone } from '../../kit/Gone.tsx'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { paths } from '../../paths.ts'
import { ConfigForm } from './ConfigForm.tsx'

/** One config, to be read and changed; without an id in the address a new one. */
export default function ConfigDetail() {
  const [search] = useSearchParams()
  const id = search.get('id')
  return id === null ? <NewConfig /> : <OneConfig key={id} id={id} />
}

function NewConfig() {
  const { t } = useTranslation('container')
  usePageTitle(t('config.newTitle'))
  return <ConfigForm config={null} />
}

function OneConfig({ id }: { readonly id: string }) {
  const { t } = useTranslation('container')
  const { data, error, refetch } = useCall(configs.list, { query: { id } }, { silent: true, refreshMs: 5_000 })
  const config = data?.items[0]
  usePageTitle(config?.name)
  if (config !== undefined) return <ConfigForm config={config} />
  if (data === undefined && error === null) return <PagePlaceholder />
  // 400: what stands in the address is no id at all.
  if (error !== null && error.status !== 400)
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  return <Gone title={t('config.gone')} note={t('config.goneNote')} to={paths.container.configuration.list()} back={t('config.back')} />
}
