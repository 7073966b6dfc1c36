import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useRef } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { keyLine } from './keyFiles.ts'
import '../compute.css'

/** A public key: pasted, or read from a file. */
export function PublicKeyInput({ id, value, onChange }: { readonly id?: string; readonly value?: string; readonly onChange?: (text: string) => void }) {
  const { t } = useTranslation('nextstackCompute')
  const file = useRef<HTMLInputElement>(null)
  return (
    <>
      <Input.TextArea
        {...(id !== undefined && { id })}
        value={value ?? ''}
        onChange={(event) => onChange?.(event.target.value)}
        rows={5}
        spellCheck={false}
        autoComplete="off"
        className="zs-code"
        placeholder="ssh-ed25519 AAAA…"
      />
      <input
        ref={file}
        type="file"
        accept=".pub,text/plain"
        hidden
        data-testid="public-key-file"
        onChange={async ({ target }) => {
          const chosen = target.files?.[0]
          target.value = ''
          if (chosen !== undefined) onChange?.(keyLine(await chosen.text()))
        }}
      />
      <Button size="small" className="nc-file" onClick={() => file.current?.click()}>
        {t('keyPair.fromFile')}
      </Button>
    </>
  )
}
