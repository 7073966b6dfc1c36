import Button from 'antd/es/button'
import Input, { type InputProps } from 'antd/es/input'
import Space from 'antd/es/space'
import { useEffect, useState } from 'react'
import { useTranslation } from '../i18n.ts'

/** Six digits, and the button that has them sent; it counts down until another may be asked for. */
export function CodeInput({
  send,
  ...input
}: Pick<InputProps, 'id' | 'value' | 'onChange'> & {
  /** Has a code sent; answers the seconds until the next, or null where none was sent. */
  readonly send: () => Promise<number | null>
}) {
  const { t } = useTranslation('kit')
  const [until, setUntil] = useState(0)
  const [sending, setSending] = useState(false)
  const seconds = useSecondsUntil(until)

  const ask = async (): Promise<void> => {
    setSending(true)
    try {
      const wait = await send()
      if (wait !== null) setUntil(Date.now() + wait * 1000)
    } finally {
      setSending(false)
    }
  }

  return (
    <Space.Compact block>
      <Input {...input} inputMode="numeric" autoComplete="one-time-code" />
      <Button onClick={() => void ask()} loading={sending} disabled={seconds > 0}>
        {seconds > 0 ? t('code.again', { seconds }) : t('code.get')}
      </Button>
    </Space.Compact>
  )
}

/** By the clock, not by counting ticks: a tab in the background gets few of them. */
function useSecondsUntil(until: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    setNow(Date.now())
    if (until <= Date.now()) return undefined
    const timer = setInterval(() => {
      setNow(Date.now())
      if (Date.now() >= until) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [until])
  return Math.max(0, Math.ceil((until - now) / 1000))
}
