import { system } from '@zhisuan/contract/sys/sys'
import { useCall } from '../api/hooks.ts'

/** What a visitor has to know before signing in. */
export const useSystemInfo = () => useCall(system.info, {}, { silent: true })
