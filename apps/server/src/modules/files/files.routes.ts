import { fileEntries, fileShares, fileSpaces, fileTransfers, fileUploads } from '@zhisuan/contract/files/file'
import { machineCopies } from '@zhisuan/contract/files/machine'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { FileDownloads } from './files.download.ts'
import type { FileService } from './files.service.ts'
import type { MachineCopies } from './machine/machine.service.ts'
import type { Shares } from './shares.ts'
import type { Transfers } from './transfers.ts'
import type { FileUploads } from './uploads.ts'

export const filesRoutes = (parts: {
  files: FileService
  uploads: FileUploads
  downloads: FileDownloads
  shares: Shares
  transfers: Transfers
  copies: MachineCopies
}): Handler[] => {
  const { files, uploads, downloads, shares, transfers, copies } = parts
  return [
    handle(fileSpaces.list, ({ actor }) => files.spaces(actor)),
    handle(fileSpaces.entries, ({ actor, params, query }) => files.list(actor, params.id, query)),
    handle(fileSpaces.createFolder, ({ actor, params, body }) => files.createFolder(actor, params.id, body)),
    handle(fileSpaces.upload, ({ actor, params, body, request }) => uploads.create(actor, params.id, body, request)),
    handle(fileSpaces.uploadMany, ({ actor, params, body, request }) => uploads.createMany(actor, params.id, body, request)),
    handle(fileEntries.get, ({ actor, params, request }) => files.get(actor, params.id, request)),
    handle(fileEntries.rename, ({ actor, params, body, request }) => files.rename(actor, params.id, body, request)),
    handle(fileEntries.move, ({ actor, body, request }) => files.move(actor, body, request)),
    handle(fileEntries.copy, ({ actor, body, request }) => files.copy(actor, body, request)),
    handle(fileEntries.publish, ({ actor, body, request }) => files.publish(actor, body, request)),
    handle(fileEntries.delete, ({ actor, body, request }) => files.delete(actor, body, request)),
    handle(fileEntries.restore, ({ actor, body, request }) => files.restore(actor, body, request)),
    handle(fileEntries.purge, ({ actor, body, request }) => files.purge(actor, body, request)),
    handle(fileEntries.download, ({ actor, body, request }) => downloads.link(actor, body, request)),
    handle(fileUploads.list, ({ actor }) => uploads.list(actor)),
    handle(fileUploads.get, ({ actor, params }) => uploads.get(actor, params.id)),
    handle(fileUploads.discard, ({ actor, params }) => uploads.discard(actor, params.id)),
    handle(fileShares.list, ({ actor, query }) => shares.list(actor, query)),
    handle(fileShares.create, ({ actor, body, request }) => shares.create(actor, body, request)),
    handle(fileShares.delete, ({ actor, params }) => shares.delete(actor, params.id)),
    handle(fileShares.look, ({ params }) => shares.look(params.token)),
    handle(fileShares.open, ({ params, body, request }) => shares.open(params.token, body.password, request.ip)),
    handle(fileTransfers.list, ({ actor, query }) => transfers.list(actor, query)),
    handle(fileTransfers.export, async ({ actor, body }) => transfers.export(actor, body)),
    handle(machineCopies.list, ({ actor, params }) => copies.list(actor, params.kind, params.id)),
    handle(machineCopies.toMachine, ({ actor, body, request }) => copies.toMachine(actor, body, request)),
    handle(machineCopies.fromMachine, ({ actor, body, request }) => copies.fromMachine(actor, body, request)),
    handle(machineCopies.cancel, ({ actor, params }) => copies.cancel(actor, params.id)),
  ]
}
