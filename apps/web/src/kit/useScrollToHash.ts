import { useEffect } from 'react'
import { useLocation } from 'react-router'

/**
 * Brings what the address names after # into view, once it is there: the browser looked for it
 * before the page had arrived.
 */
export function useScrollToHash(ready: boolean): void {
  const { hash, key } = useLocation()
  useEffect(() => {
    if (!ready || hash === '') return
    const target = document.getElementById(idOf(hash))
    if (target === null) return
    target.scrollIntoView()
    // Where one reads on is where the next Tab goes on from.
    target.focus({ preventScroll: true })
  }, [ready, hash, key])
}

function idOf(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return hash.slice(1)
  }
}
