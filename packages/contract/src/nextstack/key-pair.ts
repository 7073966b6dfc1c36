import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named } from '../validation.ts'
import { owned, reference } from '../resource.ts'

/** `ssh-ed25519 AAAA… comment`, one line (RFC 4253 section 6.6, OpenSSH's authorized_keys). */
export const sshPublicKey = z
  .string()
  .trim()
  .max(8192)
  .regex(
    /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) [A-Za-z0-9+/]+={0,3}( \P{Cc}*)?$/u,
    fieldTexts.sshPublicKey,
  )

/** An SSH key whose public half is put into instances. */
export const keyPair = z.object({
  ...owned,
  /** `ssh-ed25519`, `ssh-rsa`, … */
  algorithm: z.string(),
  /** `SHA256:…`, as `ssh-keygen -l` shows it. */
  fingerprint: z.string(),
  /** The older form, sixteen hex pairs. */
  fingerprint_md5: z.string(),
  public_key: z.string(),
  /** Made here; the private half was shown once and is not kept. */
  generated: z.boolean(),
  vm_count: z.int(),
})
export type KeyPair = z.output<typeof keyPair>

const base = '/api/nextstack/v1/key-pairs'

export const keyPairs = {
  list: defineCall({
    id: 'nextstack.keyPair.list',
    method: 'GET',
    path: base,
    summary: 'Keys of the organisation',
    access: tenants,
    query: listQuery(['name', 'algorithm', 'created_at'], { keyword }),
    response: listOf(keyPair),
  }),
  get: defineCall({
    id: 'nextstack.keyPair.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One key, with the instances that it was put into',
    access: tenants,
    params: byId,
    response: keyPair.extend({ vms: z.array(reference) }),
  }),
  create: defineCall({
    id: 'nextstack.keyPair.create',
    method: 'POST',
    path: base,
    summary: 'Generate a key, or import a public one',
    access: tenants,
    status: 201,
    // Generating an RSA key takes a processor the better part of a second.
    perMinute: 30,
    body: z.object({
      name,
      description: description.default(''),
      /** Left out: a key is generated. */
      public_key: sshPublicKey.optional(),
      algorithm: z.enum(['ssh-ed25519', 'ssh-rsa']).default('ssh-ed25519'),
    }),
    response: keyPair.extend({
      /** In OpenSSH's format, told this once; null for an imported key. */
      private_key: z.string().nullable(),
    }),
  }),
  update: defineCall({
    id: 'nextstack.keyPair.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: byId,
    body: named,
    response: keyPair,
  }),
  delete: defineCall({
    id: 'nextstack.keyPair.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a key; in instances that have it, it stays',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
