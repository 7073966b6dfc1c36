import { splitFigures } from '@zhisuan/contract/split/provider'
import { useParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { Figures, useDays } from './Figures.tsx'

/** The same of all providers, of one, or of one's cards of a model: for administrators. */
export default function OperationalData() {
  const { id, gpuname } = useParams()
  const { days, choice } = useDays()
  const query = useCall(
    splitFigures.get,
    { query: { days, ...(id !== undefined && { provider_id: id }), ...(gpuname !== undefined && { model: gpuname }) } },
    { silent: true },
  )
  return (
    <>
      {choice}
      <Figures query={query} days={days} leads />
    </>
  )
}
