import Button from 'antd/es/button'
import { lazy, Suspense, useState } from 'react'
import { loadMessages, useTranslation } from '../../../i18n.ts'
import type { MadeKeyPair } from './KeyPairDialog.tsx'

// They say what they say on the page of keys.
const KeyPairDialog = lazy(() =>
  Promise.all([import('./KeyPairDialog.tsx'), import('../nextstack.css'), loadMessages(['nextstack', 'nextstackCompute'])]).then(([module]) => ({
    default: module.KeyPairDialog,
  })),
)
const PrivateKeyDialog = lazy(() => import('./PrivateKeyDialog.tsx').then((module) => ({ default: module.PrivateKeyDialog })))

/** Makes a key beside the form that wants one; a private half is shown once. */
export function KeyPairMake({ onMade }: { readonly onMade: (id: string) => void }) {
  const { t } = useTranslation('computeInstance')
  const [kind, setKind] = useState<'generate' | 'import' | null>(null)
  const [shown, setShown] = useState<MadeKeyPair | null>(null)
  return (
    <>
      <Button onClick={() => setKind('generate')}>{t('add.keyMake')}</Button> <Button onClick={() => setKind('import')}>{t('add.keyImport')}</Button>
      <Suspense>
        {kind !== null && (
          <KeyPairDialog
            kind={kind}
            keyPair={null}
            onClose={() => setKind(null)}
            onMade={(made) => {
              onMade(made.id)
              if (made.private_key !== null) setShown(made)
            }}
          />
        )}
        {shown !== null && <PrivateKeyDialog made={shown} onClose={() => setShown(null)} />}
      </Suspense>
    </>
  )
}
