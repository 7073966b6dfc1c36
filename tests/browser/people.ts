import { randomInt } from 'node:crypto'
import type { Role } from '@zhisuan/contract/roles'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { Client } from '../support/server.ts'
import { codeFor, newPhone } from './inbox.ts'
import { password, type Account } from './stage.ts'

/** The server limits requests by address; what comes from this one is nobody else's. */
export const someAddress = (): Readonly<Record<string, string>> => ({ 'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}` })

/** Nobody in these tests has it yet. */
export const newName = (start: string): string => `${start}-${randomInt(1_000_000_000)}`

/** Somebody of a role that an administrator gives; the password that they were given first is changed. */
export async function staff(administrator: Client, url: string, role: Role): Promise<{ id: string; username: string; password: string }> {
  const username = newName(role.toLowerCase().slice(0, 8))
  const { user, one_time_password } = await administrator.call(users.create, { body: { username, roles: [role] } })
  const client = new Client(url, someAddress())
  await client.signIn(username, one_time_password)
  await client.call(users.changePassword, { body: { old_password: one_time_password, password } })
  return { id: user.id, username, password }
}

/** Registers by a code, as anybody does. */
export async function register(url: string, username: string, organisation?: string): Promise<Account> {
  const phone = newPhone()
  const client = new Client(url, someAddress())
  await client.call(verification.registrationSms, { params: { phone } })
  const code = await codeFor(url, phone)
  await client.call(auth.register, { body: { username, phone, code, password, ...(organisation !== undefined && { organisation }) } })
  return { username, phone, password }
}
