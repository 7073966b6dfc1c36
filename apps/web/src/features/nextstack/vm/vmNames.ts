import { constants } from '@zhisuan/contract/constants'

/**
 * The names that creating several instances gives: `web` once stays as it is, `web` three times is
 * web-1, web-2, web-3. What is too long for its number is cut, as the server cuts it.
 */
export function expandedNames(name: string, count: number): string[] {
  if (count <= 1) return [name]
  return Array.from({ length: count }, (_, index) => {
    const suffix = `-${index + 1}`
    return `${[...name].slice(0, constants.nameMaxLength - suffix.length).join('')}${suffix}`
  })
}

/** Whether the last of them loses some of its name to its number. */
export const namesAreCut = (name: string, count: number): boolean => count > 1 && [...name].length + 1 + String(count).length > constants.nameMaxLength
