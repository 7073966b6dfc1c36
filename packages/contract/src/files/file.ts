import { z } from 'zod'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { reference } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine } from '../validation.ts'

export const filesPath = '/api/files/v1'

/**
 * `personal`: of one person. `organisation`: shared by all its people. `project`: of one of its projects, shared by those who work
 * in it. `public`: read by everybody who is signed in.
 */
export const spaceKinds = ['personal', 'organisation', 'project', 'public'] as const
export type SpaceKind = (typeof spaceKinds)[number]

/** So long what was deleted can be brought back. */
export const fileBinDays = 7
/** So long an upload that nobody goes on with is kept. */
export const uploadDays = 7
/** Bytes of one file: what tus clients and JSON count exactly is far more. */
export const fileBytesMost = 2 ** 44
/** What is no larger is verified before the answer to its last bytes; what is larger a little later. */
export const verifiedAtOnceBytes = 64 * 1024 * 1024
/** Entries that one request is about, and that one archive holds. */
export const entriesAtOnce = 1_000
export const archiveEntriesMost = 10_000
/** Folders within each other. */
export const folderDepthMost = 64

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
/** Turns what follows around, so that `txt.exe` reads as a text: CVE-2021-42574 and its kind. */
const turning = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/u

/** As file systems take it, so that a folder can be laid out on any: 255 bytes of UTF-8 in NFC, no slash, no control character, neither `.` nor `..`. */
export const entryName = z
  .string(fieldTexts.contentRequired)
  .normalize('NFC')
  .min(1, fieldTexts.contentRequired)
  .max(255, fieldTexts.entryNameTooLong)
  .regex(/^[^/\\]*$/u, fieldTexts.entryName)
  .regex(plainLine, fieldTexts.controlCharacters)
  .refine((text) => text.isWellFormed() && !turning.test(text), fieldTexts.controlCharacters)
  .refine((text) => text.trim() !== '' && text !== '.' && text !== '..', fieldTexts.entryName)
  .refine((text) => bytesOf(text) <= 255, fieldTexts.entryNameTooLong)

/** What happens where the name is taken. `replace` sends the one that is there to the bin. */
export const conflictWays = ['refuse', 'keep_both', 'replace'] as const
export type ConflictWay = (typeof conflictWays)[number]

/** Uploads that are not finished count. */
export const fileUsage = z.object({ used_bytes: z.number(), /** Null: no limit. */ quota_bytes: z.number().nullable() })

export const fileSpace = z.object({
  id: z.uuid(),
  kind: z.enum(spaceKinds),
  name: z.string(),
  /** Whether one may change what is in it. */
  writable: z.boolean(),
  file_count: z.int(),
  /** Of all files in it, with those in its bin. */
  used_bytes: z.number(),
  /** Of a project's: what the project keeps in all, its models too. */
  project: fileUsage.nullable(),
})
export type FileSpace = z.output<typeof fileSpace>

export const entryKinds = ['folder', 'file'] as const
export const fileEntry = z.object({
  id: z.uuid(),
  space_id: z.uuid(),
  /** Null: at the top. */
  parent_id: z.uuid().nullable(),
  kind: z.enum(entryKinds),
  name: z.string(),
  /** Of a folder null. */
  size_bytes: z.number().nullable(),
  /** SHA-256 of its bytes, as they were verified. */
  sha256: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
  /** Of what is in the bin: by whom, where it was, and when it goes for good. */
  deleted: z.object({ at: moment, by: z.string(), from: z.string(), ends_at: moment }).nullable(),
})
export type FileEntry = z.output<typeof fileEntry>

export const uploadStates = ['uploading', 'verifying', 'done', 'failed'] as const
export const fileUpload = z.object({
  id: z.uuid(),
  space_id: z.uuid(),
  name: z.string(),
  /** Where it will be, as people read it. */
  folder: z.string(),
  size_bytes: z.number(),
  /** That are kept: it goes on behind them, whatever broke off. */
  offset_bytes: z.number(),
  status: z.enum(uploadStates),
  error: z.string().nullable(),
  /** Where its bytes are sent, by tus 1.0.0 (HEAD and PATCH). */
  upload_path: z.string(),
  /** What became of it. */
  entry_id: z.uuid().nullable(),
  created_at: moment,
  expires_at: moment,
})
export type FileUpload = z.output<typeof fileUpload>

export const fileShare = z.object({
  id: z.uuid(),
  entry: reference,
  entry_kind: z.enum(entryKinds),
  /** What stands behind the address of the page that it opens; null where it cannot be read any more, since it was sealed with another key. */
  token: z.string().nullable(),
  has_password: z.boolean(),
  ends_at: moment.nullable(),
  /** How often it may still be fetched; null: as often as one likes. */
  downloads_left: z.int().nullable(),
  download_count: z.int(),
  created_by: z.string(),
  created_at: moment,
})
export type FileShare = z.output<typeof fileShare>

/** `to_machine`, `from_machine`: into and out of a container or an instance. `import`: from another hub into a model. */
export const transferKinds = ['upload', 'download', 'publish', 'share', 'to_machine', 'from_machine', 'import'] as const
export type TransferKind = (typeof transferKinds)[number]
/** Where something went to or came from: a space, or a model of the warehouse. */
export const transferPlaces = [...spaceKinds, 'model'] as const
export type TransferPlace = (typeof transferPlaces)[number]
export const transferOutcomes = ['running', 'done', 'failed', 'cancelled'] as const
export type TransferOutcome = (typeof transferOutcomes)[number]
export const fileTransfer = z.object({
  id: z.uuid(),
  kind: z.enum(transferKinds),
  /** Of what lies in another's own space null, as are its digest and reason: nobody else reads what is there. */
  name: z.string().nullable(),
  space_kind: z.enum(transferPlaces),
  /** The machine that it went to or came from, and where there, or the hub; null where there was none. */
  machine: z.string().nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** Of who came by a share: null. */
  user_name: z.string().nullable(),
  ip: z.string(),
  /** Of the whole; null where only the end tells. */
  size_bytes: z.number().nullable(),
  /** That really went. */
  bytes: z.number(),
  /** Bytes a second while it lasted; null while it does. */
  rate: z.number().nullable(),
  sha256: z.string().nullable(),
  outcome: z.enum(transferOutcomes),
  reason: z.string().nullable(),
  started_at: moment,
  ended_at: moment.nullable(),
})
export type FileTransfer = z.output<typeof fileTransfer>

const parent = z.uuid().nullable().default(null)
const ids = z.array(z.uuid()).min(1, fieldTexts.contentRequired).max(entriesAtOnce)
const entrySubjects = (body: { ids: readonly string[] }) => body.ids.map((id) => ({ kind: 'files.entry', id }))
const one = { params: byId } as const
const conflict = z.enum(conflictWays).default('refuse')

/** Files that one request announces. */
export const uploadsAtOnce = 100
/** So many bytes of each may come with it. */
export const inlineFileBytes = 16 * 1024
const inlineBase64Most = Math.ceil(inlineFileBytes / 3) * 4
/** What is said of a file before its bytes are sent. */
const announced = {
  /** Folders below `parent_id`, the outermost first. */
  folders: z.array(entryName).max(folderDepthMost).default([]),
  name: entryName,
  size_bytes: z.int().min(0).max(fileBytesMost),
  /** Where it is known: what comes is compared with it. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, fieldTexts.sha256)
    .optional(),
  conflict,
} as const

export const fileSpaces = {
  list: defineCall({
    id: 'files.space.list',
    method: 'GET',
    path: `${filesPath}/spaces`,
    summary: 'One’s own space, that of one’s organisation, those of projects that one works in, and the public one',
    access: tenants,
    response: z.object({ items: z.array(fileSpace), /** Of the organisation, or, without one, nobody's. */ usage: fileUsage }),
  }),
  entries: defineCall({
    ...one,
    id: 'files.space.entries',
    method: 'GET',
    path: `${filesPath}/spaces/{id}/entries`,
    summary: 'What is in a folder, folders first; with a keyword what is called so in the whole space; or what is in its bin',
    access: tenants,
    query: listQuery(['name', 'updated_at', 'size_bytes'], { keyword, parent_id: z.uuid().optional(), bin: flag.default(false) }),
    response: listOf(fileEntry),
  }),
  createFolder: defineCall({
    ...one,
    id: 'files.space.createFolder',
    method: 'POST',
    path: `${filesPath}/spaces/{id}/folders`,
    summary: 'Make a folder',
    access: tenants,
    status: 201,
    body: z.object({ parent_id: parent, name: entryName }),
    response: fileEntry,
  }),
  upload: defineCall({
    ...one,
    id: 'files.space.upload',
    method: 'POST',
    path: `${filesPath}/spaces/{id}/uploads`,
    summary: 'Announce a file: its bytes are sent by tus to the address in the answer. Folders that it lies in are made. 97602 where its name is taken',
    access: tenants,
    status: 201,
    body: z.object({ parent_id: parent, ...announced }),
    response: fileUpload,
  }),
  uploadMany: defineCall({
    ...one,
    id: 'files.space.uploadMany',
    method: 'POST',
    path: `${filesPath}/spaces/{id}/uploads/many`,
    summary:
      'Announce many files at once, each taken or refused by itself; what is small comes with it and is there with the answer. All or none as far as the quota goes',
    also: ({ params }) => [{ action: 'files.space.upload', on: { kind: 'files.space', id: params.id } }],
    access: tenants,
    body: z.object({
      parent_id: parent,
      files: z
        .array(
          z.object({
            ...announced,
            /** Its bytes; left out: they are sent to the address in the answer. */ content: z.base64().max(inlineBase64Most).optional(),
          }),
        )
        .min(1, fieldTexts.contentRequired)
        .max(uploadsAtOnce),
    }),
    response: z.object({
      /** In the order of the files. */
      items: z.array(
        z.object({
          /** Of what is still to be sent. */
          upload: fileUpload.nullable(),
          /** Of what is there. */
          entry_id: z.uuid().nullable(),
          /** Why it is not taken. */
          refused: z.object({ code: z.int(), message: z.string() }).nullable(),
        }),
      ),
    }),
  }),
} as const

export const fileEntries = {
  get: defineCall({
    ...one,
    id: 'files.entry.get',
    method: 'GET',
    path: `${filesPath}/entries/{id}`,
    summary: 'One file or folder, with the folders that it lies in, the outermost first',
    access: tenants,
    response: fileEntry.extend({ path: z.array(reference) }),
  }),
  rename: defineCall({
    ...one,
    id: 'files.entry.rename',
    method: 'PATCH',
    path: `${filesPath}/entries/{id}`,
    summary: 'Call it otherwise',
    access: tenants,
    body: z.object({ name: entryName }),
    response: fileEntry,
  }),
  move: defineCall({
    id: 'files.entry.move',
    method: 'POST',
    path: `${filesPath}/entries/move`,
    summary: 'Put files and folders into another folder of the same space. All or none',
    access: tenants,
    body: z.object({ ids, parent_id: parent, conflict }),
    subjects: entrySubjects,
    response: empty,
  }),
  copy: defineCall({
    id: 'files.entry.copy',
    method: 'POST',
    path: `${filesPath}/entries/copy`,
    summary: 'Copy files and folders, also into another space that one may write to. All or none; bytes are not copied, but count',
    also: ({ body }) =>
      body === undefined
        ? []
        : [
            { action: 'files.space.upload', on: { kind: 'files.space', id: body.space_id } },
            ...body.ids.map((id) => ({ action: 'files.entry.download', on: { kind: 'files.entry', id } })),
          ],
    access: tenants,
    body: z.object({ ids, space_id: z.uuid(), parent_id: parent, conflict }),
    subjects: entrySubjects,
    response: empty,
  }),
  publish: defineCall({
    id: 'files.entry.publish',
    method: 'POST',
    path: `${filesPath}/entries/publish`,
    summary: 'Copy files and folders into the public space, where everybody who is signed in reads them. They count for who publishes them',
    also: ({ body }) =>
      (body?.ids ?? []).flatMap((id) => ['files.entry.copy', 'files.entry.download'].map((action) => ({ action, on: { kind: 'files.entry', id } }))),
    access: tenants,
    onlyByPolicy: ['TENANT', 'TENANT_ADMIN'],
    body: z.object({ ids, parent_id: parent, conflict }),
    subjects: entrySubjects,
    response: empty,
  }),
  delete: defineCall({
    id: 'files.entry.delete',
    method: 'POST',
    path: `${filesPath}/entries/delete`,
    summary: 'Send files and folders to the bin, where they stay for 7 days and count',
    access: tenants,
    body: z.object({ ids }),
    subjects: entrySubjects,
    response: empty,
  }),
  restore: defineCall({
    id: 'files.entry.restore',
    method: 'POST',
    path: `${filesPath}/entries/restore`,
    summary: 'Bring back what is in the bin, to where it was, or to the top where that is gone',
    access: tenants,
    body: z.object({ ids, conflict: z.enum(['refuse', 'keep_both']).default('keep_both') }),
    subjects: entrySubjects,
    response: empty,
  }),
  purge: defineCall({
    id: 'files.entry.purge',
    also: ({ body }) => (body?.ids ?? []).map((id) => ({ action: 'files.entry.delete', on: { kind: 'files.entry', id } })),
    method: 'POST',
    path: `${filesPath}/entries/purge`,
    summary: 'Delete what is in the bin for good',
    access: tenants,
    body: z.object({ ids }),
    subjects: entrySubjects,
    response: empty,
  }),
  download: defineCall({
    id: 'files.entry.download',
    method: 'POST',
    path: `${filesPath}/entries/download`,
    summary: 'A link to a file (with Range), or to several things as one archive. For looking at, only what a browser shows without running it',
    access: tenants,
    audit: false,
    body: z.object({ ids, inline: z.boolean().default(false) }),
    subjects: entrySubjects,
    response: exportLink,
  }),
} as const

export const fileUploads = {
  list: defineCall({
    id: 'files.upload.list',
    method: 'GET',
    path: `${filesPath}/uploads`,
    summary: 'One’s own uploads that are not finished, and those that failed of the last day',
    access: tenants,
    response: z.object({ items: z.array(fileUpload) }),
  }),
  get: defineCall({
    ...one,
    id: 'files.upload.get',
    method: 'GET',
    path: `${filesPath}/uploads/{id}`,
    summary: 'One of one’s own uploads: how far it is, and what became of it',
    access: tenants,
    response: fileUpload,
  }),
  discard: defineCall({
    ...one,
    id: 'files.upload.discard',
    method: 'DELETE',
    path: `${filesPath}/uploads/{id}`,
    summary: 'Give an upload up: what came of it is deleted, and counts no more',
    access: tenants,
    response: empty,
  }),
} as const

/** 22 characters of base64url: 128 bits. */
const byToken = z.object({ token: z.string().max(64).regex(plainLine, fieldTexts.controlCharacters) })

export const fileShares = {
  list: defineCall({
    id: 'files.share.list',
    method: 'GET',
    path: `${filesPath}/shares`,
    summary: 'Links that one has shared, and those of what lies in one’s organisation’s space',
    access: tenants,
    query: listQuery(['created_at', 'download_count'], { keyword, entry_id: z.uuid().optional() }),
    response: listOf(fileShare),
  }),
  create: defineCall({
    id: 'files.share.create',
    method: 'POST',
    path: `${filesPath}/shares`,
    summary: 'Share a file or folder with whoever has the link, also without an account',
    also: ({ body }) => (body === undefined ? [] : [{ action: 'files.entry.download', on: { kind: 'files.entry', id: body.entry_id } }]),
    access: tenants,
    status: 201,
    subjects: (body) => [{ kind: 'files.entry', id: body.entry_id }],
    body: z.object({
      entry_id: z.uuid(),
      password: z
        .string()
        .min(4, fieldTexts.sharePassword)
        .max(64, fieldTexts.sharePassword)
        .regex(plainLine, fieldTexts.controlCharacters)
        .nullable()
        .default(null),
      ends_at: moment.nullable().default(null),
      downloads: z.int().min(1).max(1_000_000).nullable().default(null),
    }),
    response: fileShare,
  }),
  delete: defineCall({
    ...one,
    id: 'files.share.delete',
    method: 'DELETE',
    path: `${filesPath}/shares/{id}`,
    summary: 'End a share: its link leads nowhere from then on',
    access: tenants,
    response: empty,
  }),
  look: defineCall({
    id: 'files.share.look',
    method: 'GET',
    path: `${filesPath}/shared/{token}`,
    summary: 'What a link shares, for whoever has it',
    access: 'public',
    perMinute: 120,
    params: byToken,
    response: z.object({
      needs_password: z.boolean(),
      /** What it is, and whose; null where only who knows the password is told. */
      of: z
        .object({
          name: z.string(),
          kind: z.enum(entryKinds),
          size_bytes: z.number().nullable(),
          ends_at: moment.nullable(),
          downloads_left: z.int().nullable(),
          shared_by: z.string(),
        })
        .nullable(),
    }),
  }),
  open: defineCall({
    id: 'files.share.open',
    method: 'POST',
    path: `${filesPath}/shared/{token}`,
    summary: 'A link to download what is shared',
    access: 'public',
    audit: false,
    perMinute: 20,
    params: byToken,
    body: z.object({ password: z.string().max(64).regex(plainLine, fieldTexts.controlCharacters).nullable().default(null) }),
    response: exportLink,
  }),
} as const

const transferFilters = {
  keyword,
  kind: z.enum(transferKinds).optional(),
  outcome: z.enum(transferOutcomes).optional(),
  bp_id: z.uuid().optional(),
  from: z.iso
    .date()
    .regex(/^(?!0000)/)
    .optional(),
  to: z.iso
    .date()
    .regex(/^(?!0000)/)
    .optional(),
} as const

export const fileTransfers = {
  list: defineCall({
    id: 'files.transfer.list',
    method: 'GET',
    path: `${filesPath}/transfers`,
    summary: 'Every upload, download, publication and share, of spaces and of models',
    access: admins,
    query: listQuery(['started_at', 'bytes'], transferFilters),
    response: listOf(fileTransfer),
  }),
  export: defineCall({
    id: 'files.transfer.export',
    method: 'POST',
    path: `${filesPath}/transfers/export`,
    summary: 'The same as a file',
    also: () => [{ action: 'files.transfer.list' }],
    access: admins,
    body: z.object({ format: z.enum(exportFormats).default('csv'), ...transferFilters }),
    response: exportLink,
  }),
} as const
