import AutoComplete from 'antd/es/auto-complete'
import { containerSpec } from '@zhisuan/contract/cis/container'
import { edgeImages } from '@zhisuan/contract/ecrm/edge'
import { useState } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { Field } from '../../kit/fields.tsx'
import { useRegistryImages } from './registryImages.ts'

/**
 * The image of a container: whichever is typed, one that the node has already, or one of the platform's registries.
 * @param edgeId null while none is chosen
 */
export function ImageField({ edgeId }: { readonly edgeId: string | null }) {
  const { t } = useTranslation('container')
  const { data } = useCall(edgeImages.images, { params: { id: edgeId ?? '' }, query: {} }, { silent: true, enabled: edgeId !== null })
  const there = edgeId === null ? [] : [...new Set((data?.items ?? []).flatMap(({ tags }) => tags))].toSorted()
  const [typed, setTyped] = useState('')
  const held = useRegistryImages(typed.trim())
  const fits = (image: string): boolean => image.includes(typed.trim())
  const groups = [
    { label: t('field.imageOnNode'), images: there.filter(fits) },
    { label: t('field.imageInRegistry'), images: held.filter((image) => !there.includes(image)) },
  ]
  return (
    <Field name={['spec', 'image']} label={t('field.image')} extra={t('field.imageNote')} schema={containerSpec.shape.image}>
      <AutoComplete
        className="zs-code"
        options={groups.filter(({ images }) => images.length > 0).map(({ label, images }) => ({ label, options: images.map((value) => ({ value })) }))}
        // A repository that was chosen is followed by the choice of its tags.
        onChange={(value: string) => setTyped(value)}
        showSearch={{ onSearch: setTyped, filterOption: false }}
      />
    </Field>
  )
}
