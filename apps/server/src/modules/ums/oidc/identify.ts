import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { insertProjectMember } from '../organisation/organisation.store.ts'
import { defaultProject } from '../user/keep.store.ts'
import { blankUser } from '../user/user.rules.ts'
import * as users from '../user/user.store.ts'
import type { UserRow } from '../user/user.store.ts'
import type { Claimed } from './people.ts'
import { holdProvider, type IdentityRow, type ProviderRow } from './provider.store.ts'
import * as store from './sign-on.store.ts'

/** Whether a provider may name somebody at all: an organisation's own names members of it. */
export const isOpenTo = (provider: Pick<ProviderRow, 'by_organisation' | 'bp_id'>, person: Pick<UserRow, 'kind' | 'bp_id'>): boolean =>
  !provider.by_organisation || (!isPlatformKind(person.kind) && person.bp_id === provider.bp_id)

const refuseUnacceptable = ({ email_domains }: ProviderRow, { email }: Claimed): void => {
  if (email_domains.length === 0) return
  if (email === null) throw new Refusal('ssoEmailUnverified')
  if (!email_domains.includes(email.slice(email.lastIndexOf('@') + 1))) throw new Refusal('ssoDomainForbidden')
}

/** Another's phone stays theirs, another's name is told from this one by a number. */
const makePerson = async (tx: Tx, provider: ProviderRow, claimed: Claimed): Promise<string> => {
  const bp_id = provider.bp_id
  const organisation = bp_id === null ? undefined : await store.organisationOf(tx, bp_id)
  if (bp_id === null || organisation === undefined) throw new Refusal('ssoUnknownPerson')
  if (organisation.status === 'frozen') throw new Refusal('organisationFrozen')
  const id = uuidv7()
  const phone = claimed.phone !== null && (await users.findByPhone(tx, claimed.phone)) === undefined ? claimed.phone : null
  const wish = claimed.username ?? `user-${id.slice(-8)}`
  const name = (await users.findByLogin(tx, wish)) === undefined ? wish : `${wish}-${id.slice(-8)}`
  await users.insertUser(
    tx,
    { ...blankUser, id, name, nickname: claimed.displayName, kind: 4, status: 'active', bp_id, phone, email: claimed.email, password_hash: '' },
    provider.role === null ? [] : [provider.role],
  )
  const project = await defaultProject(tx, bp_id)
  if (project !== undefined) await insertProjectMember(tx, project, id)
  return id
}

/** Whom nobody has linked yet: found by a mailbox, or made, as the provider's settings allow. */
const admit = async (tx: Tx, provider: ProviderRow, claimed: Claimed): Promise<string> => {
  const holder = claimed.email === null ? undefined : await users.findByEmail(tx, claimed.email)
  if (holder !== undefined) {
    // Mailboxes here are partly what administrators of organisations typed: so each provider finds people of its own only.
    if (provider.linking === 'email' && holder.kind > 1 && provider.bp_id !== null && holder.bp_id === provider.bp_id) return holder.id
    throw new Refusal('ssoEmailTaken')
  }
  if (provider.creates_people) return makePerson(tx, provider, claimed)
  throw new Refusal(claimed.email === null && provider.linking === 'email' ? 'ssoEmailUnverified' : 'ssoUnknownPerson')
}

const link = (tx: Tx, provider: ProviderRow, claimed: Claimed, userId: string): Promise<IdentityRow> =>
  refusing({ identities_user: 'ssoLinkedAlready' }, () =>
    store.insertIdentity(tx, {
      id: uuidv7(),
      provider_id: provider.id,
      user_id: userId,
      subject: claimed.subject,
      account: claimed.account,
    }),
  )

/** Within one transaction: whose account it is. @throws Refusal of whom the provider's settings do not let in */
export const identify = async (tx: Tx, asked: ProviderRow, claimed: Claimed, linkTo: string | null): Promise<IdentityRow> => {
  const provider = await holdProvider(tx, asked.id)
  if (provider?.enabled !== true) throw new Refusal('ssoDisabled')
  // Set up anew while somebody was away: who answered is not who would be asked now.
  if (provider.issuer !== asked.issuer || provider.client_id !== asked.client_id) throw new Refusal('ssoExpired')
  refuseUnacceptable(provider, claimed)
  await store.lockSubject(tx, provider.id, claimed.subject)
  const known = await store.findIdentity(tx, provider.id, claimed.subject)
  if (linkTo !== null) {
    if (provider.linking === 'nobody') throw new Refusal('ssoLinkForbidden')
    if (known !== undefined && known.user_id !== linkTo) throw new Refusal('ssoAccountTaken')
    const linker = await users.findById(tx, linkTo)
    if (linker === undefined || !isOpenTo(provider, linker)) throw new Refusal('ssoLinkForbidden')
    return known ?? link(tx, provider, claimed, linkTo)
  }
  const person = known === undefined ? undefined : await users.findById(tx, known.user_id)
  if (known !== undefined && person !== undefined) {
    if (!isOpenTo(provider, person)) throw new Refusal('ssoUnknownPerson')
    await store.renameIdentity(tx, known.id, claimed.account)
    return known
  }
  // Whose user was deleted is nobody any more.
  if (known !== undefined) await store.deleteIdentity(tx, known.user_id, known.id)
  return link(tx, provider, claimed, await admit(tx, provider, claimed))
}
