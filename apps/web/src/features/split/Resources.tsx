import { splitFigures } from '@zhisuan/contract/split/provider'
import { useCall } from '../../api/hooks.ts'
import { Figures, useDays } from './Figures.tsx'

/** What machines of one's own provider were sold for. */
export default function Resources() {
  const { days, choice } = useDays()
  const query = useCall(splitFigures.mine, { query: { days } }, { silent: true })
  return (
    <>
      {choice}
      <Figures query={query} days={days} />
    </>
  )
}
