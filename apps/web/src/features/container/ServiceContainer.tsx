import { useTranslation } from '../../i18n.ts'
import { paths } from '../../paths.ts'
import { ContainerPage } from './ContainerDetail.tsx'

/** A container of an application. */
export default function ServiceContainer() {
  const { t } = useTranslation('application')
  return <ContainerPage back={{ to: paths.container.application.list(), text: t('application.back') }} />
}
