import AutoComplete from 'antd/es/auto-complete'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import type { Controlled } from '../../kit/fields.tsx'
import { useRegistryImages } from './registryImages.ts'

const nowhere: readonly string[] = []

/**
 * An image: whichever is typed, one that is there already, or one of a registry.
 * @param there what a node has
 */
export function ImageInput({ id, value, onChange, there = nowhere }: Controlled<string, { there?: readonly string[] }>) {
  const { t } = useTranslation('container')
  const [typed, setTyped] = useState('')
  const held = useRegistryImages(typed.trim())
  const groups = [
    { label: t('field.imageOnNode'), images: there.filter((image) => image.includes(typed.trim())) },
    { label: t('field.imageInRegistry'), images: held.filter((image) => !there.includes(image)) },
  ]
  return (
    <AutoComplete
      className="zs-code"
      {...(id !== undefined && { id })}
      {...(value !== undefined && { value })}
      options={groups.filter(({ images }) => images.length > 0).map(({ label, images }) => ({ label, options: images.map((one) => ({ value: one })) }))}
      // A repository that was chosen is followed by the choice of its tags.
      onChange={(next: string) => {
        setTyped(next)
        onChange?.(next)
      }}
      showSearch={{ onSearch: setTyped, filterOption: false }}
    />
  )
}
