import Button from 'antd/es/button'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'

// Most people never open it, and its tables are more script than what offers it.
const Drawer = lazy(async () => ({ default: (await import('./StandingDrawer.tsx')).StandingDrawer }))

/** Opens what became of an organisation's account: its standing, what was stopped, what it was told. Needs the messages of `arrears`. */
export default function StandingLink({
  organisation,
  look = 'default',
}: {
  readonly organisation: { readonly id: string; readonly name: string }
  readonly look?: 'default' | 'link'
}) {
  const { t } = useTranslation('arrears')
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button type={look} {...(look === 'link' && { size: 'small' })} onClick={() => setOpen(true)}>
        {t(look === 'link' ? 'banner.details' : 'standing.own')}
      </Button>
      <Suspense>{open && <Drawer organisation={organisation} onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}
