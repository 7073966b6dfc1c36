import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import kitEn from './locales/en/kit.ts'
import routesEn from './locales/en/routes.ts'
import shellEn from './locales/en/shell.ts'
import kit from './locales/zh/kit.ts'
import routes from './locales/zh/routes.ts'
import shell from './locales/zh/shell.ts'

/** zh is the default; en is specified to be identical, so nothing offers a switch. */
export const i18n = i18next.createInstance()

void i18n.use(initReactI18next).init({
  lng: 'zh',
  fallbackLng: 'zh',
  defaultNS: 'shell',
  ns: ['shell', 'kit', 'routes'],
  resources: {
    zh: { shell, kit, routes },
    en: { shell: shellEn, kit: kitEn, routes: routesEn },
  },
  // React escapes; escaping twice shows &amp; to people.
  interpolation: { escapeValue: false },
  initAsync: false,
})
