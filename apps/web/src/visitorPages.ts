import type { Page } from './layout/pages.ts'
import type { BuiltPath } from './routes.ts'

/** Rows of the table of routes whose pages are known from the first script on: visitors do not wait for the names of all others. */
export const visitorPages = {
  '/': { load: () => import('./features/public/WelcomePage.tsx'), messages: ['public'] },
  '/login': { load: () => import('./features/public/LoginPage.tsx'), messages: ['public'] },
  '/register': { load: () => import('./features/public/RegisterPage.tsx'), messages: ['public', 'account'] },
  '/messageBoard': { load: () => import('./features/public-content/MessageBoardPage.tsx'), messages: ['content'] },
  '/Terms-of-Service': { load: () => import('./features/public-content/TermsPage.tsx'), messages: ['content'] },
  '/403': { load: () => import('./layout/ForbiddenPage.tsx'), messages: ['public'] },
  '/404': { load: () => import('./features/public/NotFoundPage.tsx'), messages: ['public'] },
} as const satisfies Readonly<Partial<Record<BuiltPath, Page>>>
