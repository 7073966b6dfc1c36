import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { Link } from 'react-router'
import { cleanPath, pathParts } from './directoryPath.ts'
import './directory.css'

/** Goes to a directory by its path. */
export function PathForm({ directory, onGo }: { readonly directory: string; readonly onGo: (path: string) => void }) {
  const { t } = useTranslation('kit')
  const [typed, setTyped] = useState(directory)
  return (
    <form
      className="zs-path-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onGo(cleanPath(typed))
      }}
    >
      <Input className="zs-code" aria-label={t('directory.path')} value={typed} onChange={(event) => setTyped(event.target.value)} />
      <Button htmlType="submit">{t('directory.go')}</Button>
    </form>
  )
}

/** The way to a directory, the root first. */
export function PathCrumbs({ directory, addressOf }: { readonly directory: string; readonly addressOf: (path: string) => string }) {
  const { t } = useTranslation('kit')
  return (
    <nav aria-label={t('directory.here')}>
      <ol className="zs-crumbs">
        {pathParts(directory).map(({ name, path }) => (
          <li key={path}>{path === directory ? <span aria-current="location">{name}</span> : <Link to={addressOf(path)}>{name}</Link>}</li>
        ))}
      </ol>
    </nav>
  )
}
