import { agentVersion } from '@zhisuan/contract/agent/tunnel'
import packageJson from '../package.json' with { type: 'json' }

/** Set in the bundle; of the sources it is the package's. */
declare const bundledVersion: string | undefined

export const version = agentVersion.parse(typeof bundledVersion === 'undefined' ? packageJson.version : bundledVersion)
