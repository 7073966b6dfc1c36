import Button from 'antd/es/button'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import type { ValueChange } from './sourceForm.ts'
import './stack.css'

const hidden = '••••••'

/** Variables that differ, and how. Values are secrets as often as not: they are shown when somebody asks. */
export function ValueChanges({ changes, title }: { readonly changes: readonly ValueChange[]; readonly title?: string }) {
  const { t } = useTranslation('application')
  const [shown, setShown] = useState(false)
  if (changes.length === 0) return null
  const text = (value: string | null): string => (value === null ? format.nothing : shown ? value : hidden)
  return (
    <section className="as-values">
      <h2 className="zs-heading">
        {title ?? t('variable.changed')}{' '}
        <Button type="link" size="small" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? t('variable.hide') : t('variable.show')}
        </Button>
      </h2>
      <ul className="zs-list zs-code">
        {changes.map(({ name, before, after }) => (
          <li key={name}>
            {name}: {title === undefined && <>{text(before)} → </>}
            {text(after)}
          </li>
        ))}
      </ul>
    </section>
  )
}
