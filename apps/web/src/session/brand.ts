import { useEffect } from 'react'
import { useTranslation } from '../i18n.ts'
import { useSystemInfo } from './useSystemInfo.ts'

const key = 'zhisuan.brand'

function remembered(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** What the platform is called, as its administrators set it; until the server has said so, as it was called last time. */
export function useBrand(): string {
  const { t } = useTranslation()
  const { data } = useSystemInfo()
  const title = data?.title
  useEffect(() => {
    if (title === undefined) return
    try {
      localStorage.setItem(key, title)
    } catch {
      // A full or forbidden store costs only that the name changes before the reader's eyes.
    }
  }, [title])
  return title ?? remembered() ?? t('brand')
}
