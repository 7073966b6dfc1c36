import UploadOutlined from '@ant-design/icons/es/icons/UploadOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useId, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { licences, type Licence } from '@zhisuan/contract/sys/sys'
import { toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import * as format from '../../kit/format.ts'
import { changesOf, concernsOf, readLicenceFile, type LicenceChange, type LicencePayload } from './licenceFile.ts'
import './licence.css'

/** The contract's limit: what is longer is no licence. */
const maxLength = 16_384

/** Pasted or from a file; says what would change before it is put in force. */
export function LicenceImport({ licence, now }: { readonly licence: Licence; readonly now: number }) {
  const { t } = useTranslation('licence')
  const [text, setText] = useState('')
  const [refusal, setRefusal] = useState<string | null>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const id = useId()
  const change = useChange(licences.import, { invalidates: [licences.get], silent: true })
  const next = readLicenceFile(text)

  const write = (value: string): void => {
    setText(value)
    setRefusal(null)
  }
  const readFile = async (file: File): Promise<void> => {
    if (file.size > maxLength) {
      setRefusal(t('fileTooLarge'))
      return
    }
    try {
      write(await file.text())
    } catch {
      setRefusal(t('fileUnreadable'))
    }
  }
  const submit = async (): Promise<void> => {
    setRefusal(null)
    try {
      await change.mutateAsync({ body: { licence: text } })
      setText('')
      notify('success', t('imported'))
    } catch (thrown) {
      const error = toApiError(thrown)
      setRefusal(error.fields[0]?.message ?? errorText(error))
    }
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const [file] = event.dataTransfer.files
        if (file === undefined) return
        event.preventDefault()
        void readFile(file)
      }}
    >
      <label htmlFor={id} className="licence-label">
        {t('content')}
      </label>
      <Input.TextArea
        id={id}
        className="licence-text"
        value={text}
        placeholder={t('placeholder')}
        autoSize={{ minRows: 5, maxRows: 12 }}
        spellCheck={false}
        aria-invalid={refusal !== null}
        aria-describedby={`${id}-said`}
        {...(refusal !== null && { status: 'error' as const })}
        onChange={(event) => write(event.target.value)}
      />
      <div id={`${id}-said`} aria-live="polite">
        {refusal !== null && <Alert type="error" showIcon title={refusal} className="licence-said" />}
        {refusal === null && text.trim() !== '' && next === null && <Alert type="warning" showIcon title={t('unreadable')} className="licence-said" />}
        {next !== null && <Preview licence={licence} next={next} now={now} />}
      </div>
      <div className="licence-buttons">
        <Button type="primary" htmlType="submit" disabled={text.trim() === ''} loading={change.isPending}>
          {t('submit')}
        </Button>
        <Button icon={<UploadOutlined aria-hidden />} onClick={() => chooser.current?.click()}>
          {t('chooseFile')}
        </Button>
        {text !== '' && (
          <Button type="text" onClick={() => write('')}>
            {t('clear')}
          </Button>
        )}
        <input
          ref={chooser}
          type="file"
          hidden
          aria-label={t('chooseFile')}
          onChange={(event) => {
            const file = event.target.files?.[0]
            // The same file may be chosen again after it was mended.
            event.target.value = ''
            if (file !== undefined) void readFile(file)
          }}
        />
      </div>
    </form>
  )
}

function Preview({ licence, next, now }: { readonly licence: Licence; readonly next: LicencePayload; readonly now: number }) {
  const { t } = useTranslation('licence')
  const concerns = concernsOf(licence, next, now)
  const shown = (key: LicenceChange['key'], value: string | number | null): string => {
    switch (key) {
      case 'start':
      case 'end':
        return format.dateTime(value)
      case 'nodes':
      case 'cores':
        return value === null ? t('unlimited') : String(value)
      case 'customer':
      case 'id':
        return value === null || value === '' ? t('none') : String(value)
    }
  }
  return (
    <>
      <div className="licence-changes" role="region" aria-label={t('changes')} tabIndex={0}>
        <table>
          <caption>{t('changes')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('field')}</th>
              <th scope="col">{t('before')}</th>
              <th scope="col">{t('after')}</th>
              <th scope="col">{t('changed')}</th>
            </tr>
          </thead>
          <tbody>
            {changesOf(licence, next).map((line) => (
              <tr key={line.key} className={line.less ? 'licence-less' : line.changed ? 'licence-changed' : ''}>
                <th scope="row">{t(line.key)}</th>
                <td>{shown(line.key, line.before)}</td>
                <td>{shown(line.key, line.after)}</td>
                <td>{line.less ? t('less') : line.changed ? t('changed') : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {concerns.map((concern) => (
        <Alert key={concern} type="warning" showIcon title={t(`concern.${concern}`)} className="licence-said" />
      ))}
    </>
  )
}
