import type { Reporter, TestCase } from 'vitest/node'

/** Tells of tests that pass the second time only: something is wrong with them, or with what they test. */
export default class Wavering implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return
    process.stdout.write(`WAVERED ${test.project.name} ${test.module.relativeModuleId} > ${test.fullName}\n`)
    for (const { message, stack } of test.result().errors ?? []) process.stdout.write(`${stack ?? message}\n`)
  }
}
