import { roles, type Role } from '@zhisuan/contract/roles'
import { useTranslation } from '../i18n.ts'

const isBuiltIn = (name: string): name is Role => (roles as readonly string[]).includes(name)

/** What people call a role: a built-in one is named by its key. */
export function useRoleName(): (role: { readonly name: string }) => string {
  const { t } = useTranslation('kit')
  return ({ name }) => (isBuiltIn(name) ? t(`roleNames.${name}`) : name)
}

const kinds = ['0', '1', '2', '3', '4'] as const
/** Of account:kindNames; one that a newer server knows is shown as the least of them. */
export const kindKey = (kind: number): (typeof kinds)[number] => kinds[kind] ?? '4'
