import type { Container } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { containerTones, healthTones } from './containerRules.ts'

/** How a container is, and beside it whether its program says that it is well. */
export function ContainerState({ container }: { readonly container: Pick<Container, 'status' | 'health'> }) {
  const { t } = useTranslation('container')
  return (
    <>
      <StatusTag tone={containerTones[container.status]}>{t(`status.${container.status}`)}</StatusTag>
      {container.health !== null && <Health of={container.health} />}
    </>
  )
}

export function Health({ of }: { readonly of: Container['health'] }) {
  const { t } = useTranslation('container')
  return of === null ? format.nothing : <StatusTag tone={healthTones[of]}>{t(`health.${of}`)}</StatusTag>
}
