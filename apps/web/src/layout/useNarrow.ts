import { useSyncExternalStore } from 'react'
import { constants } from '@zhisuan/contract/constants'

const query = typeof matchMedia === 'undefined' ? null : matchMedia(`(max-width: ${constants.mobileBelowPx - 0.02}px)`)

/** Below 992 px, which counts as mobile. */
export const useNarrow = (): boolean =>
  useSyncExternalStore(
    (tell) => {
      query?.addEventListener('change', tell)
      return () => query?.removeEventListener('change', tell)
    },
    () => query?.matches ?? false,
  )
