import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useRef } from 'react'
import { useTranslation } from '../../i18n.ts'
import type { Controlled } from '../../kit/fields.tsx'
import './clouds.css'

/** Certificates and keys: pasted, or read from a file that never leaves this page before it is sent. */
export function PemInput({ id, value, onChange, kind }: Controlled<string, { kind: 'CERTIFICATE' | 'PRIVATE KEY' }>) {
  const { t } = useTranslation('clouds')
  const file = useRef<HTMLInputElement>(null)
  return (
    <div className="cl-pem">
      <Input.TextArea
        {...(id !== undefined && { id })}
        value={value ?? ''}
        onChange={(event) => onChange?.(event.target.value)}
        rows={4}
        spellCheck={false}
        autoComplete="off"
        className="zs-code"
        placeholder={`-----BEGIN ${kind}-----`}
      />
      <input
        ref={file}
        type="file"
        accept=".pem,.crt,.cer,.key"
        hidden
        onChange={async ({ target }) => {
          const chosen = target.files?.[0]
          target.value = ''
          if (chosen !== undefined) onChange?.((await chosen.text()).trim())
        }}
      />
      <Button size="small" onClick={() => file.current?.click()}>
        {t('form.fromFile')}
      </Button>
    </div>
  )
}
