import type { BodyOf } from '@zhisuan/contract/define'
import type { consultations } from '@zhisuan/contract/ums/consultation'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { VerificationService } from '../verification/verification.service.ts'
import { insertConsultation } from './consultation.store.ts'

export type ConsultationService = ReturnType<typeof createConsultationService>

/** The message board: anybody may leave a message who shows that the phone is theirs. */
export const createConsultationService = ({ db }: Pick<Platform, 'db'>, verification: VerificationService) => ({
  async leave(body: BodyOf<typeof consultations.leave>): Promise<{ id: string }> {
    const code = await verification.check('consultation', body.phone, body.code)
    const id = uuidv7()
    await db.transaction().execute(async (tx) => {
      await verification.spend(tx, code)
      await insertConsultation(tx, { id, name: body.name, phone: body.phone, content: body.content })
    })
    return { id }
  },
})
