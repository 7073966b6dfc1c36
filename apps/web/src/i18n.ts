import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { present } from './locales/namespaces.ts'

export const i18n = i18next.createInstance()

void i18n.use(initReactI18next).init({
  lng: 'zh',
  // en is specified to be identical: it has no texts of its own, and nothing offers a switch.
  fallbackLng: 'zh',
  defaultNS: 'shell',
  ns: Object.keys(present),
  // A copy: what arrives later is put into it.
  resources: { zh: { ...present } },
  // React escapes; escaping twice shows &amp; to people.
  interpolation: { escapeValue: false },
  initAsync: false,
})
