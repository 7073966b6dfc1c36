import { splitFigures } from '@zhisuan/contract/split/provider'
import { useParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { Gone } from '../../kit/Gone.tsx'
import { paths } from '../../paths.ts'
import { Figures, useDays } from './Figures.tsx'

/** As the server knows things: anything else is in no address of ours. */
const isId = (text: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/** The same of all providers, of one, or of one's cards of a model: for administrators. */
export default function OperationalData() {
  const { t } = useTranslation('split')
  const { id, gpuname } = useParams()
  const { days, choice } = useDays()
  const isThere = id === undefined || isId(id)
  const of = { ...(id !== undefined && { provider_id: id }), ...(gpuname !== undefined && { model: gpuname }) }
  const query = useCall(splitFigures.get, { query: { days, ...of } }, { silent: true, enabled: isThere })
  if (!isThere) return <Gone title={t('provider.gone')} to={paths.split.operationalData.list()} back={t('provider.back')} />
  return (
    <>
      {choice}
      <Figures query={query} days={days} of={of} leads />
    </>
  )
}
