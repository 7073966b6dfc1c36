import { randomUUID } from 'node:crypto'
import argon2 from '@node-rs/argon2'
import type { Role } from '@zhisuan/contract/roles'
import { accessToken, auth } from '@zhisuan/contract/ums/auth'
import { uuidv7 } from '../platform/ids.ts'
import { someIp, somePhone, type TestApp } from './app.ts'
import { send } from './call.ts'

/** The password of everybody that {@link makeUser} makes. */
export const password = 'Correct-horse-1'
/** The cheapest there is: hashing is slow on purpose, and tests sign in often. What is set by a call costs what it shall. */
let passwordHash: Promise<string> | null = null

export interface Person {
  id: string
  name: string
  password: string
  phone: string
  email: string
  bp_id: string | null
}

export interface PersonWish {
  /** 0 system, 1 admin, 2 bp_Admin, 3 personal, 4 bp_user. Default 2. */
  kind?: number
  /** Default: what goes with the kind. */
  roles?: readonly Role[]
  /** An organisation's id. Default: a new one; none for kinds 0 and 1. */
  organisation?: string | null
  status?: 'active' | 'pending' | 'disabled'
  name?: string
  must_change_password?: boolean
}

const rolesOfKind: Readonly<Record<number, readonly Role[]>> = { 0: ['ADMIN'], 1: ['ADMIN'], 2: ['TENANT_ADMIN'], 3: ['TENANT'], 4: ['TENANT'] }

/** An organisation as registration makes it: with a default project and an account. */
export async function makeOrganisation(
  app: TestApp,
  wish: { name?: string; kind?: 'company' | 'personal'; status?: 'active' | 'frozen' } = {},
): Promise<string> {
  const id = uuidv7()
  await app.platform.db.transaction().execute(async (tx) => {
    await tx
      .insertInto('organisations')
      .values({ id, name: wish.name ?? `org-${randomUUID()}`, kind: wish.kind ?? 'company', status: wish.status ?? 'active' })
      .execute()
    await tx.insertInto('projects').values({ id: uuidv7(), key: 'default', name: 'default', bp_id: id }).execute()
    await tx.insertInto('accounts').values({ owner_id: id }).execute()
  })
  return id
}

/** Somebody, written straight into the database: registration is tested where it belongs. */
export async function makeUser(app: TestApp, wish: PersonWish = {}): Promise<Person> {
  passwordHash ??= argon2.hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 })
  const kind = wish.kind ?? 2
  const id = uuidv7()
  const name = wish.name ?? `u-${randomUUID()}`
  const [phone, email] = [somePhone(), `${id}@example.com`]
  const bp_id =
    wish.organisation !== undefined ? wish.organisation : kind <= 1 ? null : await makeOrganisation(app, { kind: kind === 3 ? 'personal' : 'company' })
  await app.platform.db
    .insertInto('users')
    .values({
      id,
      name,
      former_name: null,
      nickname: '',
      description: '',
      kind,
      status: wish.status ?? 'active',
      bp_id,
      phone,
      email,
      password_hash: await passwordHash,
      must_change_password: wish.must_change_password ?? false,
      last_login_at: null,
      deleted_at: null,
    })
    .execute()
  const roles = wish.roles ?? rolesOfKind[kind] ?? []
  if (roles.length > 0)
    await app.platform.db
      .insertInto('user_roles')
      .values(roles.map((role) => ({ user_id: id, role })))
      .execute()
  return { id, name, password, phone, email, bp_id }
}

export interface SignedIn {
  token: string
  /** The value of the refresh cookie. */
  refresh: string
}

/** Signs in with name and password. */
export async function signIn(app: TestApp, who: { name: string; password: string }): Promise<SignedIn> {
  const answer = await send(app, auth.password, { body: { username: who.name, password: who.password }, ip: someIp() })
  if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  const { token } = accessToken.parse(answer.body)
  return { token, refresh: answer.cookies.find(({ name }) => name === 'zs_refresh')?.value ?? '' }
}

/** Makes somebody and signs them in. */
export async function someone(app: TestApp, wish: PersonWish = {}): Promise<Person & SignedIn> {
  const person = await makeUser(app, wish)
  return { ...person, ...(await signIn(app, person)) }
}
