import { email as emailRule, phone as phoneRule } from '@zhisuan/contract/validation'
import { isUniqueViolation } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { companyNameIndex } from '../organisation/organisation.store.ts'
import { userIndexes } from './user.store.ts'

/** Everything of a new user that nobody says. */
export const blankUser = {
  former_name: null,
  nickname: '',
  description: '',
  email: null,
  must_change_password: false,
  wrong_passwords: 0,
  frozen_until: null,
  last_login_at: null,
  deleted_at: null,
}

/**
 * People sign in with name, phone or email in one field: a name that reads as a phone or mailbox
 * could be another's, and keep them out.
 */
export const readsAsAddress = (name: string): boolean => phoneRule.safeParse(name).success || emailRule.safeParse(name).success

/** A broken unique rule, as what it is to the person who filled in the form. */
export function explainUnique(error: unknown): unknown {
  if (isUniqueViolation(error, userIndexes.name)) return new Refusal('usernameTaken', { field: 'username', cause: error })
  if (isUniqueViolation(error, userIndexes.phone)) return new Refusal('phoneTaken', { field: 'phone', cause: error })
  if (isUniqueViolation(error, userIndexes.email)) return new Refusal('emailTaken', { field: 'email', cause: error })
  if (isUniqueViolation(error, companyNameIndex)) return new Refusal('organisationNameTaken', { field: 'organisation', cause: error })
  return error
}
