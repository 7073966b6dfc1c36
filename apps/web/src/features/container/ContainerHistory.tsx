import { containers, containerTransitional, type Container } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { OperationTable } from '../../kit/OperationTable.tsx'
import { operationTexts } from './containerRules.ts'

/** What was done to a container, by whom, and why it failed. */
export function ContainerHistory({ container: { id, status } }: { readonly container: Container }) {
  const { t } = useTranslation('container')
  return <OperationTable call={containers.operations} id={id} busy={containerTransitional.includes(status)} texts={operationTexts(t)} />
}
