import { containerSpec } from '@zhisuan/contract/cis/container'
import { edgeImages } from '@zhisuan/contract/ecrm/edge'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { Field } from '../../kit/fields.tsx'
import { ImageInput } from './ImageInput.tsx'

/**
 * The image of a container: whichever is typed, one that the node has already, or one of a registry.
 * @param edgeId null while none is chosen
 */
export function ImageField({ edgeId }: { readonly edgeId: string | null }) {
  const { t } = useTranslation('container')
  const { data } = useCall(edgeImages.images, { params: { id: edgeId ?? '' }, query: {} }, { silent: true, enabled: edgeId !== null })
  const there = edgeId === null ? [] : [...new Set((data?.items ?? []).flatMap(({ tags }) => tags))].toSorted()
  return (
    <Field name={['spec', 'image']} label={t('field.image')} extra={t('field.imageNote')} schema={containerSpec.shape.image}>
      <ImageInput there={there} />
    </Field>
  )
}
