import { errors } from '@zhisuan/contract/errors'
import { expect, it } from 'vitest'
import { ApiError } from '../../api/client.ts'
import { errorText } from '../../api/toasts.ts'
import { judged } from './openTerminal.ts'

const error = (status: number, code: number): ApiError => new ApiError({ status, code, message: 'said' })

it('tells of another that is open', () => {
  const taken = error(409, errors.terminalOpen.code)
  expect(judged(taken, 'elsewhere')).toMatchObject({ status: 409, message: 'elsewhere' })
  expect(errorText(judged(taken, 'elsewhere'))).toBe('elsewhere')
})

it('leaves everything else as it is', () => {
  const missing = error(400, errors.containerCommandMissing.code)
  expect(judged(missing, 'closing')).toBe(missing)
})
