import type { Platform } from '../../platform/platform.ts'
import { createMessages, type Tell } from './message/message.service.ts'
import { createSettings } from './settings/settings.service.ts'

/** Tells within the console, as `app.ts` hands it to modules. */
export const tellWithin = (platform: Platform): Tell => createMessages(platform, createSettings(platform)).tell
