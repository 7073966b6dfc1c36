import { readFileSync } from 'node:fs'

/** Prints what took longest in the logs of Vitest and Playwright that are named: files, then tests. */
const most = 15
const files = new Map()
const tests = []
for (const log of process.argv.slice(2)) {
  let file = ''
  // eslint-disable-next-line no-control-regex
  for (const line of readFileSync(log, 'utf8')
    .replaceAll(/\x1b\[[0-9;]*m/g, '')
    .split('\n')) {
    const ofFile = /^ *[✓❯] +(?:(\S+) +)?(\S+\.test\.tsx?) \(.*\) (\d+)ms$/.exec(line)
    const ofTest = /^ +✓ +(.*?) (\d+)ms$/.exec(line)
    const inBrowser = /^ +✓ +\d+ +(?:\[\S+\] › )?(\S+\.spec\.ts):\d+:\d+ › (.*) \(([\d.]+)(ms|s|m)\)$/.exec(line)
    if (ofFile !== null) {
      file = ofFile[2]
      files.set(file, Number(ofFile[3]))
    } else if (ofTest !== null) tests.push([`${file} › ${ofTest[1]}`, Number(ofTest[2])])
    else if (inBrowser !== null) {
      const [, spec, title, number, unit] = inBrowser
      const ms = Number(number) * { ms: 1, s: 1_000, m: 60_000 }[unit]
      files.set(spec, (files.get(spec) ?? 0) + ms)
      tests.push([`${spec} › ${title}`, ms])
    }
  }
}
const print = (title, entries) => {
  console.log(`\n== ${title}`)
  for (const [name, ms] of [...entries].toSorted((one, other) => other[1] - one[1]).slice(0, most))
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name.slice(0, 160)}`)
}
print('slowest files', files)
print('slowest tests', tests)
