import type { Rule } from 'antd/es/form'
import { errors } from '@zhisuan/contract/errors'
import { lookups, type uniqueKinds } from '@zhisuan/contract/ecrm/region'
import { name } from '@zhisuan/contract/validation'
import { request } from '../../api/client.ts'

const taken = {
  'ecrm.region': errors.regionNameTaken,
  'ecrm.site': errors.siteNameTaken,
  'ecrm.gateway': errors.gatewayNameTaken,
  'ecrm.edge': errors.edgeNameTaken,
  'ecrm.serviceAgent': errors.serviceAgentNameTaken,
} as const satisfies Partial<Readonly<Record<(typeof uniqueKinds)[number], { readonly text: string }>>>

/**
 * Asks whether a name is still free once the field is left. Where the question fails the server
 * judges when it is sent.
 * @param own what it is called now, which it may stay
 */
export const uniqueName = (kind: keyof typeof taken, own = ''): { rules: Rule[]; validateTrigger: string[] } => ({
  validateTrigger: ['onChange', 'onBlur'],
  rules: [
    {
      validateTrigger: 'onBlur',
      validator: async (_rule, value: unknown) => {
        const typed = name.safeParse(value)
        if (!typed.success || typed.data === own) return
        const { unique } = await request(lookups.uniqueness, { body: { kind, name: typed.data } }).catch(() => ({ unique: true }))
        if (!unique) throw new Error(taken[kind].text)
      },
    },
  ],
})
