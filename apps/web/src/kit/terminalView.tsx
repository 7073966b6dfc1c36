import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import QuestionCircleOutlined from '@ant-design/icons/es/icons/QuestionCircleOutlined'
import SnippetsOutlined from '@ant-design/icons/es/icons/SnippetsOutlined'
import SoundOutlined from '@ant-design/icons/es/icons/SoundOutlined'
import ZoomInOutlined from '@ant-design/icons/es/icons/ZoomInOutlined'
import ZoomOutOutlined from '@ant-design/icons/es/icons/ZoomOutOutlined'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Screen } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import Tooltip from 'antd/es/tooltip'
import { errors } from '@zhisuan/contract/errors'
import { terminalFromServer, type terminalFromClient } from '@zhisuan/contract/terminal'
import { useEffect, useReducer, useRef, useState, type ReactNode, type RefObject } from 'react'
import { useTranslation } from '../i18n.ts'
import type { z } from 'zod'
import { toApiError } from '../api/client.ts'
import { errorText } from '../api/toasts.ts'
import { copyText } from './copy.ts'
import './terminal.css'
import type { TerminalProps } from './Terminal.tsx'
import { createTerminalFeed, fromCharacterStart } from './terminalFeed.ts'
import { newTerminal, terminalReducer, type TerminalEvent, type TerminalState } from './terminalMachine.ts'
import { readTerminalSettings, writeTerminalSettings, type TerminalSettings } from './terminalSettings.ts'

/** Latin first, so that columns are even; then whatever draws Chinese at double width. */
const fontFamily =
  '"JetBrains Mono", "Cascadia Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "Sarasa Mono SC", "Noto Sans Mono CJK SC", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", monospace'

const theme = { background: '#14181f', foreground: '#d7dde5', cursor: '#7fb4ff', selectionBackground: '#2f5d9b' }

/** Aborts what the former connection left half-said, then resets all: a shell's screen begins empty. */
const cleared = new TextEncoder().encode('\x18\x1bc')

/** Screen and connection as event handlers see them: they outlive renders. */
interface Live {
  screen: Screen
  fit: () => void
  feed: ReturnType<typeof createTerminalFeed>
  socket: WebSocket | null
  /** While the past is printed again, the screen's own answers must not reach the shell as typing. */
  muted: boolean
  /** The shell has said that it listens, on the socket that is open. */
  listens: boolean
  /** What was typed before it could be heard. */
  ahead: string
  used: boolean
}

const remembered = {
  key: (name: string): string => `terminal:${name}`,
  read: (name: string): string | null => sessionStorage.getItem(remembered.key(name)),
  write: (name: string, id: string | null): void =>
    id === null ? sessionStorage.removeItem(remembered.key(name)) : sessionStorage.setItem(remembered.key(name), id),
}

export default function TerminalView({ open, resumeKey, label, focus = true, onPhase, onSize }: TerminalProps) {
  const { t } = useTranslation('kit')
  const [state, dispatch] = useReducer(terminalReducer, newTerminal, (fresh) => ({ ...fresh, terminalId: remembered.read(resumeKey) }))
  const [settings, setSettings] = useState(readTerminalSettings)
  const [tabLeaves, setTabLeaves] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const live = useRef<Live>(null)
  const latest = useRef({ open, onSize, phase: state.phase, tabLeaves })
  latest.current = { open, onSize, phase: state.phase, tabLeaves }

  useScreen({ frame, live, latest, label: t('terminal.input', { label }), settings, onToggleTab: () => setTabLeaves((now) => !now) })
  useConnection({ state, dispatch, live, latest, resumeKey, newShellText: t('terminal.newShell') })

  useEffect(() => onPhase?.(state.phase), [onPhase, state.phase])
  useEffect(() => {
    if (focus && state.phase === 'ready') live.current?.screen.focus()
  }, [focus, state.phase])

  const change = (next: Partial<TerminalSettings>): void => {
    const changed = { ...settings, ...next }
    setSettings(changed)
    writeTerminalSettings(changed)
  }
  const paste = async (): Promise<void> => {
    const text = await navigator.clipboard.readText().catch(() => '')
    live.current?.screen.paste(text)
    live.current?.screen.focus()
  }

  return (
    <section className="zs-terminal" aria-label={t('terminal.region', { label })}>
      <div className="zs-terminal-bar" role="toolbar" aria-label={t('terminal.toolbar')}>
        <span className={`zs-terminal-phase zs-terminal-phase-${state.phase}`} role="status">
          {t(`terminal.phase.${state.phase}`)}
          {tabLeaves && ` · ${t('terminal.tabLeaves')}`}
        </span>
        <Tool
          text={t('terminal.copy')}
          icon={<CopyOutlined />}
          onClick={() => void copyText(live.current?.screen.getSelection() || visibleText(live.current?.screen))}
        />
        {/* Only a page from https may read the clipboard. */}
        {'clipboard' in navigator && (
          <Tool text={t('terminal.paste')} icon={<SnippetsOutlined />} disabled={state.phase !== 'ready'} onClick={() => void paste()} />
        )}
        <Tool
          text={t('terminal.smaller')}
          icon={<ZoomOutOutlined />}
          disabled={settings.fontSize <= 10}
          onClick={() => change({ fontSize: settings.fontSize - 1 })}
        />
        <Tool
          text={t('terminal.larger')}
          icon={<ZoomInOutlined />}
          disabled={settings.fontSize >= 24}
          onClick={() => change({ fontSize: settings.fontSize + 1 })}
        />
        <Tool
          text={t('terminal.screenReader')}
          icon={<SoundOutlined />}
          pressed={settings.screenReader}
          onClick={() => change({ screenReader: !settings.screenReader })}
        />
        <Popover trigger="click" placement="bottomRight" title={t('terminal.help')} content={<Help />}>
          <Button type="text" size="small" icon={<QuestionCircleOutlined />} aria-label={t('terminal.help')} />
        </Popover>
      </div>
      <Note state={state} dispatch={dispatch} />
      <div className="zs-terminal-frame">
        <div ref={frame} className="zs-terminal-screen" />
      </div>
    </section>
  )
}

function Tool({
  text,
  icon,
  onClick,
  disabled = false,
  pressed,
}: {
  text: string
  icon: ReactNode
  onClick: () => void
  disabled?: boolean
  pressed?: boolean
}) {
  return (
    <Tooltip title={text}>
      <Button
        type="text"
        size="small"
        icon={icon}
        aria-label={text}
        disabled={disabled}
        onClick={onClick}
        {...(pressed !== undefined && { 'aria-pressed': pressed })}
      />
    </Tooltip>
  )
}

function Help() {
  const { t } = useTranslation('kit')
  const keys = {
    select: t('terminal.keys.select'),
    'Ctrl+Shift+C': t('terminal.keys.copy'),
    'Ctrl+Shift+V': t('terminal.keys.paste'),
    'Ctrl+Shift+M': t('terminal.keys.tab'),
  }
  return (
    <dl className="zs-terminal-help">
      {Object.entries(keys).map(([key, text]) => (
        <div key={key} style={{ display: 'contents' }}>
          <dt>{key === 'select' ? t('terminal.keys.mouse') : key}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What went wrong with the connection, and what the person can do about it. */
function Note({ state, dispatch }: { state: TerminalState; dispatch: (event: TerminalEvent) => void }) {
  const { t } = useTranslation('kit')
  const button = (text: string, event: TerminalEvent) => (
    <Button size="small" onClick={() => dispatch(event)}>
      {text}
    </Button>
  )
  const engine = state.engine !== null && (
    <>
      {t('error.engine', { cloud: state.engine.cloud, service: t(`error.service.${state.engine.service}`) })} <code>{state.engine.request_id}</code>
    </>
  )
  switch (state.phase) {
    case 'opening':
    case 'connecting':
      // After a loss the note stays until it works again: a flash between two attempts would be noise.
      return state.failures === 0 ? null : <Bar tone="">{t('terminal.lost')}</Bar>
    case 'ready':
      return null
    case 'waiting':
      return (
        <Bar tone="" action={button(t('terminal.now'), { type: 'due' })}>
          {t('terminal.lost')} {state.failures > 1 && t('terminal.attempt', { count: state.failures })} {state.message} {engine}
        </Bar>
      )
    case 'gaveUp':
      return (
        <Bar tone="bad" action={button(t('terminal.reconnect'), { type: 'due' })}>
          {t('terminal.gaveUp')} {state.message} {engine}
        </Bar>
      )
    case 'refused':
      return (
        <Bar tone="bad" action={button(t('terminal.again'), { type: 'due' })}>
          {t('terminal.refused', { reason: state.message ?? '' })} {engine}
        </Bar>
      )
    case 'taken':
      return (
        <Bar tone="" action={button(t('terminal.takeOver'), { type: 'takeOver' })}>
          {t('terminal.taken')}
        </Bar>
      )
    case 'ended':
      return (
        <Bar tone="plain" action={button(t('terminal.reopen'), { type: 'reopen' })}>
          {t('terminal.ended')}
        </Bar>
      )
    case 'exited':
      if (state.message !== null)
        return (
          <Bar tone="bad" action={button(t('terminal.reconnect'), { type: 'reopen' })}>
            {t('terminal.endedBy', { reason: state.message })} {engine}
          </Bar>
        )
      return (
        <Bar tone="plain" action={button(t('terminal.reopen'), { type: 'reopen' })}>
          {state.exitCode === null ? t('terminal.exited') : t('terminal.exitedWith', { code: state.exitCode })}
        </Bar>
      )
  }
}

const Bar = ({ tone, action, children }: { tone: '' | 'bad' | 'plain'; action?: ReactNode; children: ReactNode }) => (
  <div className={tone === '' ? 'zs-terminal-note' : `zs-terminal-note zs-terminal-note-${tone}`} role="status">
    <span>{children}</span>
    {action}
  </div>
)

type Latest = RefObject<{ open: TerminalProps['open']; onSize: TerminalProps['onSize']; phase: TerminalState['phase']; tabLeaves: boolean }>

/** The xterm screen: made once, fitted to its frame, told of settings. */
function useScreen({
  frame,
  live,
  latest,
  label,
  settings,
  onToggleTab,
}: {
  frame: RefObject<HTMLDivElement | null>
  live: RefObject<Live | null>
  latest: Latest
  label: string
  settings: TerminalSettings
  onToggleTab: () => void
}): void {
  const first = useRef({ settings, onToggleTab })
  first.current.onToggleTab = onToggleTab

  useEffect(() => {
    const place = frame.current
    if (place === null) return undefined
    const screen = new Screen({
      ...optionsOf(first.current.settings),
      fontFamily,
      theme,
      cursorBlink: true,
      scrollback: 5_000,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
    })
    const addon = new FitAddon()
    screen.loadAddon(addon)
    screen.open(place)
    // A hidden place has no size; fitting to it would make a terminal of two columns.
    const fit = (): void => {
      if (place.clientWidth > 0 && place.clientHeight > 0) addon.fit()
    }
    const feed = createTerminalFeed((bytes, drawn) => screen.write(bytes, drawn))
    const here: Live = { screen, fit, feed, socket: null, muted: false, listens: false, ahead: '', used: false }
    live.current = here

    screen.onData((text) => typed(here, text, latest.current.phase))
    // Mouse reports of old protocols: bytes, one in each character.
    screen.onBinary((text) => {
      if (hears(here)) here.socket?.send(Uint8Array.from(text, (character) => character.charCodeAt(0)))
    })
    screen.onResize(({ cols, rows }) => {
      sendSize(here)
      latest.current.onSize?.(cols, rows)
    })
    screen.attachCustomKeyEventHandler((event) => {
      if (event.type !== 'keydown') return true
      if (event.ctrlKey && event.shiftKey && event.code === 'KeyM') {
        first.current.onToggleTab()
        event.preventDefault()
        return false
      }
      if (event.ctrlKey && event.shiftKey && event.code === 'KeyC' && screen.hasSelection()) {
        void copyText(screen.getSelection())
        event.preventDefault()
        return false
      }
      // Where nobody listens, Tab moves on as everywhere else.
      return !(event.key === 'Tab' && (latest.current.tabLeaves || latest.current.phase !== 'ready'))
    })
    const select = (): void => {
      if (screen.hasSelection()) void copyText(screen.getSelection()).then(() => screen.focus())
    }
    place.addEventListener('mouseup', select)

    let scheduled = 0
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(scheduled)
      scheduled = requestAnimationFrame(fit)
    })
    observer.observe(place)
    fit()
    latest.current.onSize?.(screen.cols, screen.rows)
    return () => {
      cancelAnimationFrame(scheduled)
      observer.disconnect()
      place.removeEventListener('mouseup', select)
      feed.clear()
      screen.dispose()
      live.current = null
    }
  }, [frame, latest, live])

  useEffect(() => {
    const here = live.current
    if (here === null) return
    Object.assign(here.screen.options, optionsOf(settings))
    here.fit()
  }, [live, settings])

  useEffect(() => {
    live.current?.screen.textarea?.setAttribute('aria-label', label)
  }, [label, live])
}

const hears = (here: Live): boolean => here.listens && !here.muted && here.socket?.readyState === WebSocket.OPEN

const encoder = new TextEncoder()

/** Where a shell is there, or is on its way. */
const comes = new Set<TerminalState['phase']>(['opening', 'connecting', 'ready', 'waiting'])

/** More than this nobody types while a shell opens. */
const aheadMost = 4_096

/**
 * Sends what was typed, or keeps it until the shell listens: half of a line would be another one.
 * What begins with ESC may be the screen's own answer to what is printed, and is nobody's typing.
 */
function typed(here: Live, text: string, phase: TerminalState['phase']): void {
  if (hears(here)) here.socket?.send(encoder.encode(text))
  else if (comes.has(phase) && !text.startsWith('\x1b') && here.ahead.length + text.length <= aheadMost) here.ahead += text
}

function catchUp(here: Live): void {
  if (here.ahead === '' || !hears(here)) return
  here.socket?.send(encoder.encode(here.ahead))
  here.ahead = ''
}

const optionsOf = (settings: TerminalSettings) => ({ fontSize: settings.fontSize, screenReaderMode: settings.screenReader })

/** Does what the connection's state asks for, and reports back. */
function useConnection({
  state,
  dispatch,
  live,
  latest,
  resumeKey,
  newShellText,
}: {
  state: TerminalState
  dispatch: (event: TerminalEvent) => void
  live: RefObject<Live | null>
  latest: Latest
  resumeKey: string
  newShellText: string
}): void {
  const { phase, attempt, terminalId, socketPath, takeOver, delayMs, renewed } = state

  useEffect(() => {
    if (phase !== 'opening') return undefined
    let left = false
    const size = sizeOf(live.current)
    latest.current.open({ ...size, take_over: takeOver, ...(terminalId !== null && { terminal_id: terminalId }) }).then(
      (opened) => {
        if (!left) dispatch({ type: 'opened', attempt, terminalId: opened.terminal_id, socketPath: opened.socket_path })
      },
      (thrown: unknown) => {
        if (left) return
        const error = toApiError(thrown)
        dispatch({ type: 'notOpened', attempt, why: whyNot(error, terminalId !== null), message: errorText(error), engine: error.engine, now: Date.now() })
      },
    )
    return () => {
      left = true
    }
  }, [attempt, dispatch, latest, live, phase, takeOver, terminalId])

  useEffect(() => {
    const here = live.current
    if (socketPath === null || here === null) return undefined
    const target = new URL(socketPath, location.href)
    target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(target)
    socket.binaryType = 'arraybuffer'
    here.socket = socket
    here.listens = false
    let replayLeft = 0
    let atReplayStart = false

    const text = (data: string): void => {
      const frame = terminalFromServer.safeParse(parsed(data))
      if (!frame.success) return socket.close(4002)
      if (frame.data.type === 'exit') {
        remembered.write(resumeKey, null)
        here.ahead = ''
        const { exit_code: exitCode, problem } = frame.data
        return dispatch({
          type: 'exit',
          attempt,
          exitCode,
          ...(problem !== undefined && { message: errorText({ status: 0, ...problem }), engine: problem.engine ?? null }),
        })
      }
      replayLeft = frame.data.replay_bytes
      atReplayStart = replayLeft > 0
      here.muted = replayLeft > 0
      here.listens = true
      // What was meant for a shell that is gone is not for another.
      if (renewed && here.used) here.ahead = ''
      here.feed.clear()
      here.feed.push(cleared)
      if (renewed && here.used) here.feed.push(new TextEncoder().encode(`\x1b[2m${newShellText}\x1b[0m\r\n`))
      here.used = true
      here.fit()
      sendSize(here)
      catchUp(here)
      dispatch({ type: 'ready', attempt })
    }
    const binary = (bytes: Uint8Array): void => {
      const shown = atReplayStart ? fromCharacterStart(bytes) : bytes
      atReplayStart = false
      const replayEnds = replayLeft > 0 && bytes.length >= replayLeft
      replayLeft = Math.max(0, replayLeft - bytes.length)
      here.feed.push(
        shown,
        replayEnds
          ? () => {
              here.muted = false
              catchUp(here)
            }
          : undefined,
      )
    }
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') text(data)
      else if (data instanceof ArrayBuffer) binary(new Uint8Array(data))
    }
    socket.onclose = ({ code }) => {
      if (here.socket === socket) here.socket = null
      dispatch({ type: 'lost', attempt, closeCode: code, now: Date.now() })
    }
    // A network that is known to be gone will not say so on the socket for minutes.
    const gone = (): void => socket.onclose?.(new CloseEvent('close', { code: 1006 }))
    window.addEventListener('offline', gone)
    return () => {
      window.removeEventListener('offline', gone)
      socket.onclose = null
      socket.onmessage = null
      socket.close()
      if (here.socket === socket) here.socket = null
    }
    // `renewed` and the text belong to this socket's opening and do not change while it lives.
  }, [attempt, dispatch, live, newShellText, renewed, resumeKey, socketPath])

  useEffect(() => {
    if (phase === 'ready') remembered.write(resumeKey, terminalId)
  }, [phase, resumeKey, terminalId])

  useEffect(() => {
    if (phase !== 'waiting') return undefined
    const due = (): void => dispatch({ type: 'due' })
    const timer = setTimeout(due, delayMs)
    window.addEventListener('online', due)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('online', due)
    }
  }, [attempt, delayMs, dispatch, phase])
}

/** Whether trying again by itself makes sense. While coming back everything that may pass does. */
function whyNot(error: { status: number; code: number | null }, comingBack: boolean): 'temporary' | 'taken' | 'refused' {
  if (error.code === errors.terminalOpen.code) return 'taken'
  if (error.status === 0 || error.status === 503) return 'temporary'
  return comingBack && (error.status === 429 || error.status >= 500) ? 'temporary' : 'refused'
}

/** Within what the contract accepts for a new terminal. */
const sizeOf = (here: Live | null): { columns: number; rows: number } => ({
  columns: Math.min(500, Math.max(10, here?.screen.cols ?? 80)),
  rows: Math.min(300, Math.max(4, here?.screen.rows ?? 24)),
})

function sendSize(here: Live): void {
  if (here.socket?.readyState !== WebSocket.OPEN) return
  const frame: z.input<typeof terminalFromClient> = { type: 'resize', ...sizeOf(here) }
  here.socket.send(JSON.stringify(frame))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What can be seen, for the copy button while nothing is selected. */
function visibleText(screen: Screen | undefined): string {
  if (screen === undefined) return ''
  const { active } = screen.buffer
  const lines = Array.from({ length: screen.rows }, (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? '')
  return lines.join('\n').trimEnd()
}
