import { email as emailRule, phone as phoneRule } from '@zhisuan/contract/validation'
import { companyNameIndex } from '../organisation/organisation.store.ts'
import { userIndexes } from './user.store.ts'

/** Everything of a new user that nobody says. */
export const blankUser = {
  former_name: null,
  nickname: '',
  description: '',
  email: null,
  must_change_password: false,
  last_login_at: null,
  deleted_at: null,
}

/**
 * People sign in with name, phone or email in one field: a name that reads as a phone or mailbox
 * could be another's, and keep them out.
 */
export const readsAsAddress = (name: string): boolean => phoneRule.safeParse(name).success || emailRule.safeParse(name).success

/** What another has already of what somebody filled in. */
export const userTaken = {
  [userIndexes.name]: ['usernameTaken', 'username'],
  [userIndexes.phone]: ['phoneTaken', 'phone'],
  [userIndexes.email]: ['emailTaken', 'email'],
  [companyNameIndex]: ['organisationNameTaken', 'organisation'],
} as const
