import { i18n } from '../i18n.ts'
import { loaders, type LazyNamespace } from './namespaces.ts'

/** Brings messages that are not there yet; those that are cost nothing. */
export async function loadMessages(namespaces: readonly LazyNamespace[]): Promise<void> {
  await Promise.all(
    namespaces
      .filter((namespace) => !i18n.hasResourceBundle('zh', namespace))
      .map(async (namespace) => {
        const messages = await loaders[namespace]()
        i18n.addResourceBundle('zh', namespace, messages.default)
      }),
  )
}
