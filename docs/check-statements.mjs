// Checks that statements are a chain: that nothing in any of them was changed since it was stated.
//   node check-statements.mjs [--after HASH] 2026-01.csv 2026-02.csv …   in the order of their months
// The hash of a statement is the SHA-256 of the one before it and its CSV file. What is printed has to be what stands on the statements.
// Each line's shares have to be its base, to the last digit. Ends with 1 where one of them does not.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const files = process.argv.slice(2)
let previous = files[0] === '--after' ? files.splice(0, 2)[1] : ''
const minor = (amount) => {
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(amount)
  return BigInt(whole + fraction.padEnd(8, '0'))
}

for (const file of files) {
  const bytes = readFileSync(file)
  previous = createHash('sha256').update(previous).update(bytes).digest('hex')
  // RFC 4180: a cell in quotes may hold commas, lines and quotes.
  const rows = [[]]
  for (const [, quoted, plain, end] of bytes.toString().matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  const [titles, ...lines] = rows.filter((row) => row.length > 1)
  // The base, then what each party has of it, then the line that is taken back.
  const at = titles.findIndex((title) => title.startsWith('分账基数'))
  for (const line of lines) {
    const [base, ...shares] = line.slice(at, -1).map(minor)
    if (shares.reduce((sum, share) => sum + share, 0n) === base) continue
    process.stderr.write(`${file}: the shares of line ${line[0]} are not its base\n`)
    process.exitCode = 1
  }
  process.stdout.write(`${file} ${previous}\n`)
}
