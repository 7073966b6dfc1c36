import 'i18next'
import type account from './locales/zh/account.ts'
import type clouds from './locales/zh/clouds.ts'
import type content from './locales/zh/content.ts'
import type help from './locales/zh/help.ts'
import type kit from './locales/zh/kit.ts'
import type licence from './locales/zh/licence.ts'
import type nextstack from './locales/zh/nextstack.ts'
import type overview from './locales/zh/overview.ts'
import type publicPages from './locales/zh/public.ts'
import type routes from './locales/zh/routes.ts'
import type shell from './locales/zh/shell.ts'

// Keys are checked by the compiler: a message that is not in zh is a type error.
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell'
    returnNull: false
    resources: {
      shell: typeof shell
      kit: typeof kit
      routes: typeof routes
      public: typeof publicPages
      nextstack: typeof nextstack
      content: typeof content
      help: typeof help
      account: typeof account
      overview: typeof overview
      licence: typeof licence
      clouds: typeof clouds
    }
  }
}
