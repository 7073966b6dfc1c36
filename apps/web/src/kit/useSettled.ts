import { useEffect, useState } from 'react'

/** What a text was when it had not changed for so many milliseconds. */
export function useSettled(text: string, ms: number): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return settled
}
