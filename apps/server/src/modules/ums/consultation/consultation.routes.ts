import { consultations } from '@zhisuan/contract/ums/consultation'
import type { Db } from '../../../platform/db/database.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ConsultationService } from './consultation.service.ts'
import { listConsultations } from './consultation.store.ts'

export const consultationRoutes = (db: Db, board: ConsultationService): Handler[] => [
  handle(consultations.leave, ({ body }) => board.leave(body)),
  handle(consultations.list, ({ query }) => listConsultations(db, query)),
]
