import type { ExecResult, TerminalSession } from '../compute.ts'

/** What was written to an instance, by path: Base64, and what `stat` says of it. */
export interface SandboxFiles {
  files: Readonly<Record<string, string>>
  attributes: Readonly<Record<string, string>>
}

/** The little that the sandbox's shell understands, on the files that were written to the instance. */
export function runSandboxCommand(command: readonly string[], context: SandboxFiles & { hostname: string; input: Buffer }): ExecResult {
  const answer = (stdout: string | Buffer, exitCode = 0, stderr = ''): ExecResult => ({ exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) })
  const [name, ...args] = command
  if ((name === 'sh' || name === '/bin/sh') && args[0] === '-c' && args[1] !== undefined) {
    return runSandboxCommand(args[1].trim().split(/\s+/), context)
  }
  switch (name) {
    case 'sh':
    case '/bin/sh':
      return runScript(context.input.toString(), context)
    case 'echo':
      return answer(`${args.join(' ')}\n`)
    case 'hostname':
      return answer(`${context.hostname}\n`)
    case 'uname':
      return answer('Sandbox\n')
    case 'cat': {
      if (args[0] === undefined) return answer(context.input)
      const file = context.files[args[0]]
      return file === undefined ? answer('', 1, `cat: ${args[0]}: No such file\n`) : answer(Buffer.from(file, 'base64'))
    }
    case 'stat': {
      const path = args.at(-1) ?? ''
      const attributes = context.attributes[path]
      return attributes === undefined ? answer('', 1, `stat: cannot stat '${path}'\n`) : answer(`${attributes}\n`)
    }
    case 'ls':
      if (args.includes('--full-time')) return longListing(args, context)
      return answer(
        Object.keys(context.files)
          .map((path) => `${path}\n`)
          .join(''),
      )
    case 'chpasswd':
    case 'sleep':
    case 'true':
    case '':
    case undefined:
      return answer('')
    case 'false':
      return answer('', 1)
    case 'exit':
      return answer('', Number(args[0] ?? 0))
    case 'help':
      return answer('sandbox: echo hostname uname cat ls stat sleep true false exit help\n')
    default:
      return answer('', 127, `sh: ${name}: not found\n`)
  }
}

/** `ls -l --full-time` of a directory, or with `d` of one thing itself: written files, and the directories that these lie in. */
function longListing(args: readonly string[], { files, attributes }: SandboxFiles): ExecResult {
  const path = (args.at(-1) ?? '').replace(/(?<=.)\/+$/, '')
  const below = path === '/' ? '/' : `${path}/`
  const said = (stdout: string, exitCode = 0): ExecResult => ({ exitCode, stdout: Buffer.from(stdout), stderr: Buffer.alloc(0) })
  const line = (name: string, file?: string, mode = '755'): string =>
    `${file === undefined ? 'd' : '-'}${rights(mode)} 1 0 0 ${file === undefined ? 4096 : Buffer.byteLength(file, 'base64')} 2026-01-01 00:00:00.000000000 +0000 ${name}\n`
  const of = (at: string, name: string): string => line(name, files[at], attributes[at]?.split(' ')[0])
  const inside = Object.keys(files).filter((one) => one.startsWith(below))
  const itself = files[path] === undefined ? path === '/' || path === '/root' || inside.length > 0 : true
  if (!itself) return said('', 1)
  if (args.some((one) => /^-\w*d/.test(one))) return said(of(path, path))
  const names = new Set(inside.map((one) => one.slice(below.length).split('/')[0] ?? ''))
  return said([...names].map((name) => of(below + name, name)).join(''))
}

/** `640` as `rw-r-----`. */
const rights = (mode: string): string =>
  Array.from(mode.slice(-3), (digit) => ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'][Number(digit)] ?? '---').join('')

/** How long a command or script sleeps, in milliseconds: waiting for it is the engine's. */
export const sleepMs = (command: readonly string[], input: Buffer): number =>
  [command.join(' '), ...input.toString().split('\n')].reduce((sum, line) => sum + Number(/^\s*sleep +(\d+(?:\.\d+)?)\s*$/.exec(line)?.[1] ?? 0) * 1000, 0)

/** Line after line, as a shell reads its standard input; ends as its last line did. */
function runScript(script: string, context: SandboxFiles & { hostname: string }): ExecResult {
  const done: ExecResult[] = []
  for (const line of script.split('\n')) {
    const words = line.trim().split(/\s+/)
    if (words[0] === '' || words[0]?.startsWith('#') === true) continue
    done.push(runSandboxCommand(words, { ...context, input: Buffer.alloc(0) }))
    if (words[0] === 'exit') break
  }
  const all = (stream: 'stdout' | 'stderr') => Buffer.concat(done.map((one) => one[stream]))
  return { exitCode: done.at(-1)?.exitCode ?? 0, stdout: all('stdout'), stderr: all('stderr') }
}

/** A line-wise terminal on that shell: echoes, takes backspace, Ctrl+C and Ctrl+D. */
export function openSandboxTerminal(hostname: string, size: { columns: number; rows: number }, written: SandboxFiles): TerminalSession {
  const queue: Buffer[] = []
  let wake: () => void = () => undefined
  let over = false
  let line = ''
  let { columns, rows } = size
  let exited: (code: number | null) => void = () => undefined
  const exit = new Promise<number | null>((resolve) => {
    exited = resolve
  })
  const print = (text: string) => {
    queue.push(Buffer.from(text))
    wake()
  }
  const prompt = () => print(`root@${hostname}:~# `)
  const end = (code: number | null) => {
    over = true
    exited(code)
    wake()
  }
  print('Zhisuan sandbox: no machine runs here.\r\n')
  prompt()

  const enter = () => {
    const words = line.trim().split(/\s+/)
    line = ''
    print('\r\n')
    if (words[0] === 'exit') return end(Number(words[1] ?? 0))
    if (words[0] === 'stty' && words[1] === 'size') print(`${rows} ${columns}\r\n`)
    else {
      const { stdout, stderr } = runSandboxCommand(words, { ...written, hostname, input: Buffer.alloc(0) })
      print(`${stdout.toString()}${stderr.toString()}`.replaceAll('\n', '\r\n'))
    }
    prompt()
  }
  async function* output(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = queue.shift()
      if (next !== undefined) yield next
      else if (over) return
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  return {
    output: output(),
    write(data) {
      if (over) return
      for (const character of data.toString('utf8')) {
        if (character === '\r' || character === '\n') enter()
        else if (character === '\u007F') {
          if (line !== '') print('\b \b')
          line = line.slice(0, -1)
        } else if (character === '\u0003') {
          line = ''
          print('^C\r\n')
          prompt()
        } else if (character === '\u0004' && line === '') end(0)
        else {
          line += character
          print(character)
        }
        if (over) return
      }
    },
    resize(newColumns, newRows) {
      columns = newColumns
      rows = newRows
    },
    exit,
    close: () => end(null),
  }
}
