/** `snap-20260302-1024`, in the person's own zone: a name that tells when. */
export function nameAt(start: string, at: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${start}-${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}-${two(at.getHours())}${two(at.getMinutes())}`
}
