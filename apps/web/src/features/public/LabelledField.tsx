import { useId, type ReactNode } from 'react'
import './public.css'

export interface FieldProps {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

/** A control with its label, and below it what is wrong: of antd's Form the part that signing in needs, without its weight. */
export function LabelledField({
  label,
  error,
  children,
}: {
  readonly label: string
  readonly error: string | null
  readonly children: (props: FieldProps) => ReactNode
}) {
  const id = useId()
  return (
    <div className="public-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': error !== null, 'aria-describedby': error === null ? undefined : `${id}-error` })}
      {error !== null && (
        <p id={`${id}-error`} className="public-field-error">
          {error}
        </p>
      )}
    </div>
  )
}
