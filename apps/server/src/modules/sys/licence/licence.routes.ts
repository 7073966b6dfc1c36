import { licences } from '@zhisuan/contract/sys/sys'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { LicenceService } from './licence.service.ts'

export const licenceRoutes = (licence: LicenceService): Handler[] => [
  handle(licences.publicKey, () => licence.publicKey()),
  handle(licences.get, () => licence.get()),
  handle(licences.import, ({ body }) => licence.import(body.licence)),
]
